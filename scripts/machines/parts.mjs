/**
 * Runs parts of the gate's tests on the machine that this is, for `npm run machines`: in a guest, in a chroot or here.
 * `node scripts/machines/parts.mjs STEPS` takes an array of steps as JSON, and prints a line `ROW {…}` after each.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMain, main, root, run } from '../process.mjs';
import { titleOf, vitest } from '../runners.mjs';

/** The parts, each with the directories and files below `__test__` that it runs. */
export const PARTS = {
  run: ['run', 'behaviour', 'supervise'],
  background: ['background'],
  sessions: ['session', 'warm'],
  terminals: ['pty'],
  confine: ['confine/contract'],
  receipts: ['receipt'],
  undo: ['undo'],
  drafts: ['draft'],
  ledger: ['ledger'],
  evidence: ['evidence'],
  remote: ['remote'],
};

/** The row in a line that a machine printed, or `null`. */
export function rowIn(line) {
  const row = /ROW (\{.*\})$/.exec(line.trimEnd())?.[1];
  return row ? JSON.parse(row) : null;
}

/** Reasons that a row names, and the characters of each. */
const [REASONS, LENGTH] = [20, 200];

const oneLine = (text) => text.replace(/\s+/g, ' ').trim().slice(0, LENGTH);

/** What the skipped tests need, or their names, each with how many there are. */
function reasonsOf(skips) {
  const counts = new Map();
  for (const name of skips) {
    const reason = /\[needs (.+)\]/.exec(name)?.[1] ?? name;
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => `skipped ${count}: ${reason}`);
}

/** The row of counts as `runners.mjs` makes them. */
export const rowOf = (part, { passed, failed, skipped, failures = [], skips = [] }, seconds, why = []) => ({
  part,
  passed,
  failed,
  skipped,
  why: [
    ...why,
    ...failures.map((failure) => oneLine(`${titleOf(failure)}: ${failure.message}`)),
    ...reasonsOf(skips).map(oneLine),
  ].slice(0, REASONS),
  seconds: Math.round(seconds * 10) / 10,
});

/** The table machine × part, and the reasons behind it. */
export function table(rows) {
  const lines = rows.map(({ machine, part, passed, failed, skipped, seconds }) =>
    [
      machine.padEnd(12),
      part.padEnd(32),
      `${passed} passed`,
      `${failed} failed`,
      `${skipped} skipped`,
      `${seconds} s`,
    ].join('  '),
  );
  const why = rows.flatMap(({ machine, part, why }) => why.map((reason) => `${machine} ${part}: ${reason}`));
  return [...lines, ...(why.length ? ['', ...why] : [])].join('\n');
}

/** An emulated machine has two slow processors. */
const isEmulated = process.env.AGENT_BASH_EMULATED === '1';

/** Minutes that a part may take, against a hang. */
const LIMIT = 40;

/** Prints how commands are confined on this machine: by `namespaces`, a `listener` or `landlock`. */
const WAY = `require('.').bash('true', { confine: {} }).then(({ confinement }) => console.log(confinement.way))`;

/**
 * Resolves to the environment that tells tests what this machine lacks. Without namespaces, those that show what a
 * listener does run in place of others.
 */
async function lacks() {
  const { stdout } = await run(process.execPath, ['-e', WAY], { output: 'keep' });
  return stdout.trim() === 'namespaces' ? {} : { AGENT_BASH_NAMESPACES: 'off' };
}

/**
 * Runs a step and resolves to its row.
 *
 * - `part`: a name of `PARTS`, or another one with `files`
 * - `name`: what the row is called. Default: the part
 * - `files`: the paths below `__test__` to run. Default: those of the part
 * - `env`: more environment
 */
async function rowOfStep({ part, name = part, files = PARTS[part], env = {} }) {
  const start = performance.now();
  const paths = files.map((file) => `__test__/${file}${file.includes('.') ? '' : '/'}`);
  const workers = isEmulated ? ['--maxWorkers=2'] : [];
  const counts = await vitest(['--project=gate', ...workers, ...paths], {
    env: { ...(await lacks()), ...env },
    limitMs: LIMIT * 60_000,
  });
  const row = rowOf(name, counts, (performance.now() - start) / 1000);
  if (row.passed + row.failed + row.skipped > 0) return row;
  return { ...row, failed: 1, why: ['no test ran'] };
}

/** The words before a program that run it as the user `tester` of a guest. */
const AS_TESTER = ['setpriv', '--reuid=tester', '--regid=tester', '--init-groups', '--reset-env', 'env'];

/** Runs a step as another user: this script does it. */
async function asTester(step) {
  const directory = mkdtempSync(join(tmpdir(), 'agent-bash-tester-'));
  chmodSync(directory, 0o777);
  try {
    const names = { PATH: process.env.PATH, TMPDIR: directory, ...(isEmulated && { AGENT_BASH_EMULATED: '1' }) };
    const env = Object.entries(names).map(([name, value]) => `${name}=${value}`);
    await run([...AS_TESTER, ...env, process.execPath, process.argv[1]], [JSON.stringify([step])], {
      allowFailure: true,
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (isMain(import.meta)) {
  await main(async () => {
    process.chdir(root);
    for (const { user, sysctls = {}, ...step } of JSON.parse(process.argv[2])) {
      for (const [name, value] of Object.entries(sysctls)) await run('sysctl', ['-q', '-w', `${name}=${value}`]);
      if (user === 'tester') await asTester(step);
      else console.log(`ROW ${JSON.stringify(await rowOfStep(step))}`);
    }
  });
}
