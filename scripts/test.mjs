/**
 * `npm test`: the tests of the gate after the set-up, which are the Rust tests and the vitest files outside of
 * `__test__/stress`. The last line counts both.
 *
 * A failed test runs once more, alone, after all others. If it passes then, it is *unstable*: it is named at the end
 * and counted apart. More than three unstable tests fail the run, and so does a run that leaves anything behind or
 * takes too much (scripts/footprint.mjs). `target/gate/report.json` has all of that.
 *
 * `npm test -- WORD` runs the vitest files of either suite and the Rust tests that have the word in their path. With an
 * option among the arguments (`npm test -- ending -t 'time limit'`) vitest takes all of them, and Rust tests do not
 * run. Nothing is repeated then.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Footprint, mebibytes } from './footprint.mjs';
import { main, root, since } from './process.mjs';
import { again, closing, compileRust, NONE, only, rust, sum, titleOf, vitest } from './runners.mjs';
import { setUp } from './setup.mjs';
import { testFiles } from './suites.mjs';

/** Unstable tests that a run may have. */
const UNSTABLE = 3;

/** Failed tests of which a run tries to repeat each one. With more, something is broken for good. */
const REPEATED = 20;

const GATE = ['--project=gate'];

/** Runs each failed test once more, alone. Returns those that fail again, and those that pass. */
async function repeated(failures, options) {
  const [failed, unstable] = [[], []];
  for (const failure of failures) {
    const isTest = failure.name !== null || failure.file !== null;
    if (!isTest || failures.length > REPEATED) {
      failed.push(failure);
      continue;
    }
    console.log(`\n=== once more, alone: ${titleOf(failure)}`);
    const { passed, failures: still } = failure.file
      ? await vitest([...GATE, '--maxWorkers=1', ...only(failure)], options)
      : await rust([failure.name], { exact: true, ...options });
    if (passed > 0 && still.length === 0) unstable.push(failure);
    else failed.push(failure);
  }
  return { failed, unstable };
}

/** All tests of the gate, with their footprint. */
async function gate() {
  await compileRust();
  const footprint = new Footprint();
  // A run that is interrupted leaves nothing behind either.
  const interrupted = () => process.exit(130);
  process
    .once('exit', () => footprint.clear())
    .once('SIGINT', interrupted)
    .once('SIGTERM', interrupted);
  const options = { env: footprint.env };
  const start = performance.now();
  const counts = sum([await rust([], options), await vitest(GATE, options)]);
  const { failed, unstable } = await repeated(counts.failures, options);
  const wrong = await footprint.end();
  if (unstable.length > UNSTABLE) wrong.push(`${unstable.length} unstable tests, more than ${UNSTABLE}`);
  const { processes, memory } = footprint.peak;
  console.log(`\ntests in ${since(start)}, at most ${processes} processes and ${mebibytes(memory)} MiB at once`);
  const all = {
    passed: counts.passed,
    failed: failed.length + wrong.length,
    skipped: counts.skipped,
    failures: [...failed, ...wrong.map((name) => ({ file: null, name, message: '' }))],
  };
  report({ ...all, unstable, peak: footprint.peak, seconds: (performance.now() - start) / 1000 });
  return { ...all, unstable };
}

/** Writes `target/gate/report.json`. */
function report(result) {
  const directory = join(root, 'target', 'gate');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'report.json'), `${JSON.stringify(result, null, 2)}\n`);
}

/** The tests of either suite that the arguments select. */
async function selected(args) {
  const both = ['gate', 'stress'].map((name) => `--project=${name}`);
  const units = args.some((arg) => arg.startsWith('-')) ? NONE : rust(args, { stress: 'with' });
  return { ...sum(await Promise.all([units, vitest([...both, ...args])])), unstable: [] };
}

/** Whether the words select a test of the packed tarballs, which hold the optimized addon. */
const packs = (words) =>
  testFiles().some((file) => file.startsWith('stress/package/') && words.some((word) => file.includes(word)));

await main(async () => {
  const args = process.argv.slice(2);
  await setUp({ full: packs(args) });
  const all = args.length > 0 ? await selected(args) : await gate();
  if (all.passed + all.failed === 0) {
    console.error('no test ran');
    process.exitCode = 1;
  }
  if (all.failed > 0) process.exitCode = 1;
  console.log(again(all.failures));
  for (const test of all.unstable) console.log(`unstable: ${titleOf(test)}`);
  if (all.unstable.length > 0) console.log(`${all.unstable.length} unstable`);
  console.log(closing(all));
});
