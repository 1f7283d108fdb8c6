/**
 * The two suites of vitest files, for vitest.config.ts and the scripts. The directory says which one a file belongs to:
 * those below `__test__/stress` are stress tests, in a directory for each part. All others belong to the gate.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failed, root } from './process.mjs';

export const TESTS = '__test__';
export const STRESS = `${TESTS}/stress`;

/** Files in which the way of starting a command can make a difference, and so can confinement. */
const STARTED = ['plan', 'run', 'behaviour', 'stress/load/behaviour', 'stress/load/run'];

/**
 * The files that stress runs once more with every command cold, warm, in a session or confined, because that can make a
 * difference there. Each entry is a directory or a file below `__test__`.
 */
export const REPEATED = {
  cold: STARTED,
  warm: [...STARTED, 'stress/load/supervise'],
  session: [...STARTED, 'stress/load/supervise'],
  confined: [
    ...STARTED,
    'background',
    'observe/commands',
    'pty',
    'receipt/exact',
    'receipt/tasks',
    'sandbox',
    'session',
    'snapshot',
    'supervise',
    'undo/contract',
    'undo/cover',
    'undo/own-directories',
    'undo/tool',
    'warm',
    'stress/attacks/session',
    'stress/cli/cli/doctor',
    'stress/cli/cli/run',
    'stress/docs/docs/examples',
    'stress/examples/json-server',
    'stress/examples/terminal',
    'stress/load/ai',
    'stress/load/background',
    'stress/load/pty',
    'stress/load/supervise',
    'stress/load/warm',
    'stress/sessions',
    'stress/tasks/background',
    'stress/terminals/pty',
    'stress/tools',
    'stress/waits',
  ],
};

const within = (file, entries) => entries.some((entry) => file === entry || file.startsWith(`${entry}/`));

/** All test files, as paths below `__test__` without their suffix. */
export function testFiles() {
  return readdirSync(join(root, TESTS), { recursive: true })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => path.slice(0, -'.test.ts'.length))
    .sort();
}

/** The test files of a list of `REPEATED`, as paths from the root. */
export function repeatedFiles(name) {
  return testFiles()
    .filter((file) => within(file, REPEATED[name]))
    .map((file) => `${TESTS}/${file}.test.ts`);
}

const REASONS = `${TESTS}/support/confined/reasons`;

/** The files of which the confined run leaves out tests. */
function differing() {
  const lists = readdirSync(join(root, REASONS)).map((name) => readFileSync(join(root, REASONS, name), 'utf8'));
  return lists.flatMap((list) => [...list.matchAll(/^(\S+):/gm)].map(([, file]) => file));
}

/** Throws `Failed` for an entry of a list without a test file, and for a stress directory that is none of the parts. */
export function suitesAreComplete(parts) {
  const files = testFiles();
  const empty = Object.values(REPEATED)
    .flat()
    .filter((entry) => !files.some((file) => within(file, [entry])));
  if (empty.length > 0) throw new Failed(`scripts/suites.mjs names ${empty.join(', ')}, where no test is`);
  const lost = differing().filter((file) => !files.includes(file) || !within(file, REPEATED.confined));
  if (lost.length > 0) throw new Failed(`${REASONS} names ${lost.join(', ')}, which have no confined run`);
  const names = parts.map(({ name }) => name);
  const others = readdirSync(join(root, STRESS)).filter((name) => !names.includes(name));
  if (others.length > 0) throw new Failed(`scripts/stress.mjs has no part ${others.join(', ')}, which is in ${STRESS}`);
}
