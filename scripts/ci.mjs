/**
 * `.ci/run`: the gate, which is everything that a change has to pass, from nothing but Node, npm, git, bash and Rust.
 * What the tests need besides is installed first, where that can be done. Each step is named and timed.
 *
 * The last line is `N passed, N failed`, over the tests and one for each other step. The lines before it repeat the
 * failures, because a log is often cut to its end. After `LIMIT` the run ends itself and everything that it started.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checks } from './check.mjs';
import { killAll } from './footprint.mjs';
import { programs } from './machine.mjs';
import { Failed, main, npm, root, run, since } from './process.mjs';
import { again, closing, NONE, sum, titleOf } from './runners.mjs';

const minutes = 60_000;

/** The time that the gate may take. On two cores it takes a third to a half of that. */
const LIMIT = 40 * minutes;

// A missing capability fails a test instead of skipping it.
process.env.AGENT_BASH_CI = '1';
// A build that is used once needs no incremental files.
process.env.CARGO_INCREMENTAL = '0';

/** Marks the processes of this run, wherever they move to. */
process.env.CI_RUN = `${process.pid}.${Date.now().toString(36)}`;

const status = async () => (await run('git', ['status', '--porcelain'], { output: 'keep' })).stdout;

const setUp = join(root, 'scripts', 'setup.mjs');

/** Fails if a second set-up does anything. */
async function setUpAgain() {
  const { output } = await run(process.execPath, [setUp], { output: 'keep' });
  if (output) throw new Failed(`there was nothing to do, but: ${output}`);
}

/** `npm test`, counted by its report. */
async function tests() {
  const report = join(root, 'target', 'gate', 'report.json');
  rmSync(report, { force: true });
  const { code } = await run(npm, ['test'], { allowFailure: true, limitMs: 30 * minutes });
  const counts = JSON.parse(readFileSync(report, 'utf8'));
  if (code !== 0 && counts.failed === 0) throw new Failed(`npm test exited with ${code} although no test failed`);
  return counts;
}

const before = await status();

async function cleanWorkTree() {
  const after = await status();
  if (after !== before) throw new Failed(`git status was\n${before}and is\n${after}`);
}

const steps = [
  ['programs of the tests', () => programs({ limitMs: 10 * minutes })],
  ['set-up', () => run(process.execPath, [setUp], { limitMs: 20 * minutes })],
  ['set-up, again', setUpAgain],
  ['npm test', tests],
  ...checks.map(([name, check]) => [name, () => check({ limitMs: 10 * minutes })]),
  ['clean work tree', cleanWorkTree],
];

/** Ends the run with a failure, and everything that it started. */
function late(name) {
  killAll(`CI_RUN=${process.env.CI_RUN}`);
  console.log(`\n.ci/run: ended after ${LIMIT / minutes} minutes, in the step «${name()}»\n0 passed, 1 failed`);
  process.exit(1);
}

await main(async () => {
  const begin = performance.now();
  const table = [];
  let total = NONE;
  const unstable = [];
  let current = '';
  const timer = setTimeout(late, LIMIT, () => current);
  for (const [name, act] of steps) {
    current = name;
    console.log(`\n=== ${name}`);
    const start = performance.now();
    let counts = { ...NONE, passed: 1 };
    try {
      const result = await act();
      if (typeof result?.passed === 'number') counts = result;
    } catch (error) {
      console.log(error instanceof Failed ? `${error.output}\n${error.message}` : error);
      counts = { ...NONE, failed: 1, failures: [{ file: null, name, message: `${error.message}` }] };
    }
    total = sum([total, counts]);
    unstable.push(...(counts.unstable ?? []));
    table.push(`${name.padEnd(24)} ${since(start).padStart(9)}  ${closing(counts)}`);
    console.log(`=== ${name}: ${counts.failed ? 'FAILED' : 'passed'} in ${since(start)}`);
    // Every later step needs the set-up.
    if (name === 'set-up' && counts.failed) break;
  }
  clearTimeout(timer);
  console.log(`\n${table.join('\n')}\n${'in all'.padEnd(24)} ${since(begin).padStart(9)}\n`);
  if (total.failed > 0) {
    process.exitCode = 1;
    console.log(again(total.failures));
  }
  for (const test of unstable) console.log(`unstable: ${titleOf(test)}`);
  console.log(closing(total));
});
