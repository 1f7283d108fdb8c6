/**
 * The tiers of the vitest suite, as data for vitest.config.ts and scripts/test.mjs.
 *
 * `npm test` runs the first tier, `npm run test:full` both. Each directory of `__test__` with tests is in one tier. A
 * file of a first-tier directory may be in the second tier alone.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failed, root } from './process.mjs';

/** The core: first-tier directories that `npm run test:full` runs in each way of starting a command (`WAYS`). */
export const CORE = ['behaviour', 'capture', 'plan', 'run', 'supervise'];

/** The other directories of the first tier. */
export const FIRST = [
  'ai',
  'background',
  'cli',
  'confine',
  'docs',
  'mcp',
  'observe',
  'options',
  'providers',
  'pty',
  'receipt',
  'reduce',
  'render',
  'safety',
  'sandbox',
  'session',
  'shells',
  'snapshot',
  'undo',
  'warm',
];

/**
 * Directories and files of the second tier: generated, differential, chaotic and packaged tests, and the slowest
 * others.
 */
export const SECOND = [
  ...['contract', 'differential', 'examples', 'waits'],
  'background/chaos',
  'capture/split',
  'safety/corpus',
  'safety/generated',
  'safety/git-losses',
  'safety/outside-for-real',
  'supervise/resources',
  // The slowest of the others. Their neighbours in the first tier fail for the same faults.
  'ai/in-sandbox/hostile',
  'ai/in-sandbox/places',
  'ai/in-sandbox/same',
  'ai/terminal',
  'ai/terminal-hostile',
  'ai/background',
  'ai/docs',
  'ai/in-sandbox/sdk',
  'ai/terminal-input',
  'ai/terminal-keys',
  'ai/terminal-programs',
  'ai/terminal-safety',
  'ai/terminal-sdk',
  'background/across',
  'background/folder',
  'background/host',
  'background/moved',
  'background/survivors',
  'background/truth',
  'background/wait',
  'confine/attacks',
  'confine/flood',
  'confine/work/git',
  'confine/contract/descriptors',
  'confine/contract/files',
  'confine/contract/killed',
  'confine/contract/killed-host',
  'confine/contract/network',
  'confine/contract/places',
  'confine/contract/protection',
  'confine/contract/results',
  'confine/contract/tasks',
  'confine/contract/worlds',
  'confine/work/programs',
  'confine/work/servers',
  'cli/check',
  'cli/doctor',
  'cli/json',
  'cli/mcp',
  'cli/run',
  'cli/tasks',
  'docs/cli',
  'docs/commands',
  'docs/examples',
  'docs/mcp',
  'docs/providers',
  'docs/shells',
  'mcp/live',
  'mcp/roots',
  'providers/openai-local-shell',
  'providers/openai-shell',
  'pty/hostile',
  'pty/leaks',
  'pty/programs',
  'render/hostile',
  'safety/heads',
  'sandbox/session/home',
  'sandbox/session/spawn',
  'session/codes',
  'session/ends',
  'session/held',
  'session/hostile',
  'session/large',
  'session/order',
  'session/output',
  'session/state',
  'session/unseen',
  'shells/mixed',
  'snapshot/broken',
  'receipt/generated-many',
  'undo/cli',
  'undo/histories',
  'undo/crashes',
  'undo/lost',
  'undo/work',
  'warm/apart',
  'warm/bounded',
  'warm/died',
  'warm/ends',
  'warm/kind',
  'warm/workers',
];

/** Rust tests of the second tier: generated and hostile cases that take more than a second. */
export const SLOW_UNITS = [
  'safety::decide::tests::suggestions_for_everyday_commands_allow_them',
  'safety::parse::tests::reads_what_bash_reads',
  'safety::unwrap::hostile_tests::long_argument_lists_are_done_soon',
  'safety::unwrap::inline::tests::long_hostile_programs_are_done_soon',
  'shell_state::tests::leaving::the_code_and_the_state_are_told_whatever_the_command_did_to_its_shell',
  'shell_state::tests::properties::functions_last',
  'shell_state::tests::properties::values_last',
  'shell_state::text::tests::nothing_is_complete_that_bash_would_go_on_with',
];

/**
 * The ways of starting a command: cold, by a warm shell, or in a session. Each runs the core without its second-tier
 * files and without the files listed here, which are slow and test nothing that depends on the way.
 */
export const WAYS = {
  cold: ['capture/*', 'behaviour/bounded', 'supervise/limits', 'supervise/helpers'],
  warm: [],
  session: ['capture/truncate'],
};

/**
 * Suites that `npm run test:full` does not run a second time with every command confined, by the reason.
 * `__test__/support/confined/reasons/` lists single tests that are left out there.
 */
export const UNCONFINED = {
  'says of each call whether it is confined': ['confine', 'examples/coding-agent', 'examples/gateway'],
  'does more often what others do confined': [
    'background/chaos',
    'differential/generated',
    'receipt/generated-many',
    'undo/crashes',
    'undo/histories',
  ],
  'tests the package, not how commands run': [
    'contract/bundling',
    'contract/checks',
    'contract/exports',
    'contract/packed',
    'contract/runtimes',
    'contract/setup',
    'contract/types',
    'contract/workflows',
  ],
  'starts no command through the addon': [
    'cli/check',
    'docs/benchmarks',
    'docs/comments',
    'docs/every',
    'docs/links',
    'docs/options',
    'docs/safety',
    'mcp/entry',
    'providers/entry',
    'safety/analyze',
    'safety/corpus',
    'safety/decide',
    'safety/generated',
    'safety/heads',
    'safety/hostile',
  ],
};

/** The test files of a tier's entry, as a glob. */
export const globOf = (entry) => `__test__/${entry}${entry.includes('/') ? '' : '/**/*'}.test.ts`;

/** All test files, as paths below `__test__` without their suffix. */
export function testFiles() {
  return readdirSync(join(root, '__test__'), { recursive: true })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => path.slice(0, -'.test.ts'.length))
    .sort();
}

const REASONS = '__test__/support/confined/reasons';

/** The files of which the second run with confined commands leaves out tests. */
function differing() {
  const lists = readdirSync(join(root, REASONS)).map((name) => readFileSync(join(root, REASONS, name), 'utf8'));
  return lists.flatMap((list) => [...list.matchAll(/^(\S+):/gm)].map(([, file]) => file));
}

const within = (file, entries) => entries.some((entry) => file === entry || file.startsWith(`${entry}/`));

/** The tier of a test file: 'first', 'second', or null for a file that no entry names. */
export function tierOf(file) {
  // The tests of the ways themselves run in each of them.
  if (within(file, [...SECOND, 'support/ways'])) return 'second';
  return within(file, [...CORE, ...FIRST]) ? 'first' : null;
}

/** Throws `Failed` for a test file without a tier, and for an entry without a test file. */
export async function tiersAreComplete() {
  const files = testFiles();
  const lost = files.filter((file) => tierOf(file) === null);
  if (lost.length > 0) throw new Failed(`scripts/tiers.mjs names no tier of ${lost.join(', ')}`);
  const entries = [...CORE, ...FIRST, ...SECOND, ...Object.values(UNCONFINED).flat()];
  const empty = entries.filter((entry) => !files.some((file) => within(file, [entry])));
  if (empty.length > 0) throw new Failed(`scripts/tiers.mjs names ${empty.join(', ')}, where no test is`);
  const unknown = differing().filter((file) => !files.includes(file) || within(file, Object.values(UNCONFINED).flat()));
  if (unknown.length > 0) throw new Failed(`${REASONS} names ${unknown.join(', ')}, which have no confined run`);
  const code = readdirSync(join(root, 'src'), { recursive: true })
    .filter((path) => path.endsWith('.rs'))
    .map((path) => readFileSync(join(root, 'src', path), 'utf8'));
  const gone = SLOW_UNITS.filter((name) => !code.some((text) => text.includes(`fn ${name.split('::').at(-1)}(`)));
  if (gone.length > 0) throw new Failed(`scripts/tiers.mjs names ${gone.join(', ')}, which is no Rust test`);
}
