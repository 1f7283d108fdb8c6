/**
 * `npm test`: vitest and cargo, after the set-up they need; the last line counts both.
 *
 * `npm test -- WORD` runs the vitest files and the Rust tests that have the word in their path. With an option among them
 * (`npm test -- ending -t 'time limit'`) the arguments are vitest's, and only it runs.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { isMain, main, root, run } from './process.mjs';
import { setUp } from './setup.mjs';

/** A test that failed, as it is said once more where all is over: of a long log often only the end is kept. */
const failure = (name, message = '') => {
  // The frames of others say nothing.
  const lines = message.split('\n').filter((line) => line.trim() !== '' && !/^\s+at .*(node_modules|node:)/.test(line));
  return [name, ...lines.slice(0, 10)].join('\n    ').trimEnd();
};

/** Stands before the failures that are said once more. */
const AGAIN = '--- failed:';

/** What `npm test` printed of its failures at the end, again. */
export const failuresIn = (stdout) => {
  const from = stdout.lastIndexOf(`\n${AGAIN}\n`);
  const text = from < 0 ? '' : stdout.slice(from + AGAIN.length + 2);
  return text.split('\n').slice(0, -2).join('\n').trim();
};

/** The failures as `npm test` and `.ci/run` end with them, '' when there are none. */
export const again = (failures) => (failures.length ? `\n${AGAIN}\n${failures.join('\n')}\n` : '');

export const NONE = { passed: 0, failed: 0, skipped: 0, failures: [] };

/** Runs vitest and counts. `node`: another than this one; `limitMs`: kills one that hangs. */
export async function vitest(args = [], { node = process.execPath, limitMs = 0 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-bash-test-'));
  try {
    const report = join(folder, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const program = [node, join(root, 'node_modules', 'vitest', 'vitest.mjs')];
    const options = { allowFailure: true, limitMs };
    const { code } = await run(program, ['run', ...reporters, '--passWithNoTests', ...args], options);
    const found = JSON.parse(readFileSync(report, 'utf8'));
    const broken = found.testResults.filter(
      ({ status, assertionResults }) =>
        status === 'failed' && !assertionResults.some((assertion) => assertion.status === 'failed'),
    );
    const counts = {
      passed: found.numPassedTests,
      failed: found.numFailedTests + broken.length,
      skipped: found.numPendingTests + (found.numTodoTests ?? 0),
      failures: [
        ...broken.map(({ name, message }) => failure(relative(root, name), message)),
        ...found.testResults.flatMap(({ name, assertionResults }) =>
          assertionResults
            .filter(({ status }) => status === 'failed')
            .map(({ fullName, failureMessages }) =>
              failure(`${relative(root, name)}: ${fullName}`, failureMessages.join('\n')),
            ),
        ),
      ],
    };
    // An error outside of any test.
    if (code !== 0 && counts.failed === 0) {
      counts.failures = [`vitest ended with ${code}, and no test failed: counted as one that did`];
      counts.failed = 1;
    }
    return counts;
  } catch (error) {
    return { ...NONE, failed: 1, failures: [`vitest could not run: ${error.message}`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the Rust tests and counts. */
export async function cargo(words = [], { limitMs = 0 } = {}) {
  const counts = { ...NONE, failures: [] };
  try {
    const colour = process.stdout.isTTY ? 'always' : 'never';
    // libtest takes any number of words; a test runs when it has one of them.
    const args = ['test', '--no-fail-fast', '--color', colour, '--', '--color', colour, ...words];
    const { code, output } = await run('cargo', args, { output: 'both', allowFailure: true, limitMs });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is looked for
    const plain = output.replace(/\x1b\[[0-9;]*m/g, '');
    for (const [, passed, failed, ignored] of plain.matchAll(
      /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm,
    )) {
      counts.passed += Number(passed);
      counts.failed += Number(failed);
      counts.skipped += Number(ignored);
    }
    // Its own lists of failed tests, each once.
    for (const [, name] of plain.matchAll(/^test (\S+)(?: - .*)? \.\.\. FAILED$/gm)) counts.failures.push(name);
    if (code !== 0 && counts.failed === 0) {
      counts.failures.push(`cargo test ended with ${code}, and no test failed: counted as one that did`);
      counts.failed = 1;
    }
  } catch (error) {
    counts.failures.push(`cargo test could not run: ${error.message}`);
    counts.failed += 1;
  }
  return counts;
}

export const sum = (parts) =>
  parts.reduce(
    (all, part) => ({
      passed: all.passed + part.passed,
      failed: all.failed + part.failed,
      skipped: all.skipped + part.skipped,
      failures: [...all.failures, ...part.failures],
    }),
    NONE,
  );

/** The line that ends a run. */
export const closing = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;

if (isMain(import.meta)) {
  await main(async () => {
    await setUp();
    const args = process.argv.slice(2);
    const all = sum([await vitest(args), args.some((arg) => arg.startsWith('-')) ? sum([]) : await cargo(args)]);
    if (all.passed + all.failed === 0) {
      console.error('no test ran');
      process.exitCode = 1;
    }
    if (all.failed > 0) process.exitCode = 1;
    if (all.failures.length > 0) console.log(again(all.failures));
    console.log(closing(all));
  });
}
