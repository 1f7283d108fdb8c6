/**
 * What `.ci/run` does: everything a change has to pass, each step named and timed, from nothing but Node, npm, git, bash and Rust.
 *
 * The last line is `N passed, N failed` over the tests of all runs, with each other step counted as one. What failed is said once
 * more right before it, since of a long log often only the end is kept.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checks } from './check.mjs';
import { Failed, main, npm, root, run, since } from './process.mjs';
import { again, closing, failuresIn, NONE, sum, vitest } from './test.mjs';

const minutes = 60_000;

// A capability that is missing here is a failure, not a skip.
process.env.AGENT_BASH_CI = '1';
// What is built once and thrown away needs neither.
process.env.CARGO_INCREMENTAL = '0';
process.env.CARGO_PROFILE_DEV_DEBUG = 'line-tables-only';

const status = async () => (await run('git', ['status', '--porcelain'], { output: 'keep' })).stdout;

const setUp = [join(root, 'scripts', 'setup.mjs')];

/** What was made is not made again. */
async function setUpAgain() {
  const { output } = await run(process.execPath, setUp, { output: 'keep' });
  if (output) throw new Failed(`there was nothing to do, but: ${output}`);
}

/** `npm test`, counted by its last line. */
async function suites() {
  const options = { output: 'both', allowFailure: true, limitMs: 25 * minutes };
  const { code, stdout } = await run(npm, ['test'], options);
  const line = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/.exec(stdout.trimEnd().split('\n').at(-1));
  if (!line) throw new Failed(`npm test ended with ${code} and without its closing line`);
  const [passed, failed, skipped] = line.slice(1).map((digits) => Number(digits ?? 0));
  return { passed, failed: code !== 0 ? Math.max(failed, 1) : failed, skipped, failures: [failuresIn(stdout)] };
}

/** The vitest suite on another Node, which comes as an npm package; the ways of running are no matter of Node's. */
async function vitestOn(major) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-bash-node-'));
  try {
    const name = `node-${process.platform}-${process.arch}`;
    const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run(npm, [...args, `${name}@${major}`], { output: 'keep', cwd: folder, limitMs: 5 * minutes });
    const node = join(folder, 'node_modules', name, 'bin', 'node');
    const { stdout } = await run(node, ['--version'], { output: 'keep' });
    if (!stdout.startsWith(`v${major}.`)) throw new Failed(`asked for Node ${major}, got ${stdout.trim()}`);
    console.log(`Node ${stdout.trim()}`);
    return await vitest(['--project', 'all'], { node, limitMs: 15 * minutes });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const before = await status();

const steps = [
  ['set-up', () => run(process.execPath, setUp, { limitMs: 20 * minutes })],
  ['set-up, again', setUpAgain],
  ['npm test', suites],
  ['vitest on Node 24', () => vitestOn(24)],
  ...checks.map(([name, check]) => [name, () => check({ limitMs: 10 * minutes })]),
  ['bench', () => run(npm, ['run', 'bench', '--', '--short'], { limitMs: 10 * minutes })],
  [
    'clean work tree',
    async () => {
      const after = await status();
      if (after !== before) throw new Failed(`git status was\n${before}and is\n${after}`);
    },
  ],
];

await main(async () => {
  const begin = performance.now();
  const table = [];
  let total = NONE;
  for (const [name, act] of steps) {
    console.log(`\n=== ${name}`);
    const start = performance.now();
    let counts = { ...NONE, passed: 1 };
    try {
      const result = await act();
      if (typeof result?.passed === 'number') counts = result;
    } catch (error) {
      console.log(error instanceof Failed ? `${error.output}\n${error.message}` : error);
      counts = { ...NONE, failed: 1, failures: [`${error.message}`] };
    }
    // Each with its step: a test runs in several.
    const failures = counts.failures.filter(Boolean).map((text) => `${name}: ${text}`);
    total = sum([total, { ...counts, failures }]);
    table.push(`${name.padEnd(24)} ${since(start).padStart(9)}  ${closing(counts)}`);
    console.log(`=== ${name}: ${counts.failed ? 'FAILED' : 'passed'} in ${since(start)}`);
    // Nothing after it could say anything.
    if (name === 'set-up' && counts.failed) break;
  }
  console.log(`\n${table.join('\n')}\n${'in all'.padEnd(24)} ${since(begin).padStart(9)}\n`);
  if (total.failed > 0) {
    process.exitCode = 1;
    console.log(again(total.failures));
  }
  console.log(closing(total));
});
