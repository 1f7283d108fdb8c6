/**
 * `.ci/run`: everything that a change has to pass, from nothing but Node, npm, git, bash and Rust. What the tests need
 * besides is installed first, where that can be done. Each step is named and timed.
 *
 * The last line is `N passed, N failed`, over the tests of all runs and one for each other step. The lines before it
 * repeat the failures, because a log is often cut to its end.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { checks } from './check.mjs';
import { programs } from './machine.mjs';
import { Failed, main, npm, root, run, since } from './process.mjs';
import { again, closing, failuresIn, NATURAL, NONE, sum, visiblePlace, vitest } from './test.mjs';

const minutes = 60_000;

// A missing capability fails a test instead of skipping it.
process.env.AGENT_BASH_CI = '1';
// A build that is used once needs no incremental files.
process.env.CARGO_INCREMENTAL = '0';

const status = async () => (await run('git', ['status', '--porcelain'], { output: 'keep' })).stdout;

const setUp = [join(root, 'scripts', 'setup.mjs'), '--full'];

/** Fails if a second set-up does anything. */
async function setUpAgain() {
  const { output } = await run(process.execPath, setUp, { output: 'keep' });
  if (output) throw new Failed(`there was nothing to do, but: ${output}`);
}

/** `npm run test:full`, counted by its last line. */
async function suites() {
  const options = { output: 'both', allowFailure: true, limitMs: 45 * minutes };
  const { code, stdout } = await run(npm, ['run', 'test:full'], options);
  const line = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/.exec(stdout.trimEnd().split('\n').at(-1));
  if (!line) throw new Failed(`npm run test:full exited with ${code} and without its closing line`);
  const [passed, failed, skipped] = line.slice(1).map((digits) => Number(digits ?? 0));
  return { passed, failed: code !== 0 ? Math.max(failed, 1) : failed, skipped, failures: [failuresIn(stdout)] };
}

/** The first tier of the vitest suite on another Node, which an npm package brings. */
async function vitestOn(major) {
  // Confined commands do not see the /tmp of this machine.
  const [place, folder] = [visiblePlace(), mkdtempSync(join(root, 'target', 'node-'))];
  try {
    const name = `node-${process.platform}-${process.arch}`;
    const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run(npm, [...args, `${name}@${major}`], { output: 'keep', cwd: folder, limitMs: 5 * minutes });
    const node = join(folder, 'node_modules', name, 'bin', 'node');
    const { stdout } = await run(node, ['--version'], { output: 'keep' });
    if (!stdout.startsWith(`v${major}.`)) throw new Failed(`asked for Node ${major}, got ${stdout.trim()}`);
    console.log(`Node ${stdout.trim()}`);
    return await vitest(
      NATURAL.first.map((name) => `--project=${name}`),
      { node: join(place, relative(root, node)), place, limitMs: 15 * minutes },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const before = await status();

const steps = [
  ['programs of the tests', () => programs({ limitMs: 10 * minutes })],
  ['set-up', () => run(process.execPath, setUp, { limitMs: 20 * minutes })],
  ['set-up, again', setUpAgain],
  ['npm run test:full', suites],
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
    // A test runs in several steps, so each failure names its step.
    const failures = counts.failures.filter(Boolean).map((text) => `${name}: ${text}`);
    total = sum([total, { ...counts, failures }]);
    table.push(`${name.padEnd(24)} ${since(start).padStart(9)}  ${closing(counts)}`);
    console.log(`=== ${name}: ${counts.failed ? 'FAILED' : 'passed'} in ${since(start)}`);
    // Every later step needs the set-up.
    if (name === 'set-up' && counts.failed) break;
  }
  console.log(`\n${table.join('\n')}\n${'in all'.padEnd(24)} ${since(begin).padStart(9)}\n`);
  if (total.failed > 0) {
    process.exitCode = 1;
    console.log(again(total.failures));
  }
  console.log(closing(total));
});
