/**
 * `npm test`: the unit tests in Rust and the first tier of the vitest suite (scripts/tiers.mjs), after the set-up. The
 * last line counts both. `npm run test:full` runs both tiers, the core in each way of starting a command, and all of it
 * with every command confined.
 *
 * `npm test -- WORD` runs the vitest files of either tier and the Rust tests that have the word in their path. With an
 * option among the arguments (`npm test -- ending -t 'time limit'`) vitest takes all of them, and Rust tests do not
 * run.
 */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { env } from './build.mjs';
import { triple } from './platform.mjs';
import { isMain, main, root, run } from './process.mjs';
import { setUp } from './setup.mjs';
import { SLOW_UNITS, testFiles } from './tiers.mjs';

/** A failed test as the summary repeats it. A log is often cut to its end, so failures are printed there once more. */
const failure = (name, message = '') => {
  // Stack frames outside this project are left out.
  const lines = message.split('\n').filter((line) => line.trim() !== '' && !/^\s+at .*(node_modules|node:)/.test(line));
  return [name, ...lines.slice(0, 10)].join('\n    ').trimEnd();
};

/** The line above the repeated failures. */
const AGAIN = '--- failed:';

/** The repeated failures at the end of the output of `npm test`. */
export const failuresIn = (stdout) => {
  const from = stdout.lastIndexOf(`\n${AGAIN}\n`);
  const text = from < 0 ? '' : stdout.slice(from + AGAIN.length + 2);
  return text.split('\n').slice(0, -2).join('\n').trim();
};

/** The failures as `npm test` and `.ci/run` repeat them at their end. Empty without failures. */
export const again = (failures) => (failures.length ? `\n${AGAIN}\n${failures.join('\n')}\n` : '');

export const NONE = { passed: 0, failed: 0, skipped: 0, failures: [] };

/** Directories of which confined commands have private ones in their place. */
const PRIVATE = ['/tmp', '/var/tmp', '/dev/shm'];

/** Empty directories of most machines, outside of those. */
const PLACES = ['/mnt', '/media', '/srv', '/opt'];

/** Where confined commands see this clone: here, or at a place at which it is mounted for them. */
export function visiblePlace() {
  const here = realpathSync(root);
  if (!PRIVATE.some((directory) => here.startsWith(`${directory}/`))) return root;
  return PLACES.find((place) => existsSync(place)) ?? root;
}

/** The words in front of a program that show this clone at another place to it and its children, and to no others. */
function showing(place) {
  if (place === root) return [];
  const mapped = process.getuid() === 0 ? [] : ['--map-root-user'];
  const script = 'mount --bind "$0" "$1" && cd "$1" && shift && exec "$@"';
  return ['unshare', ...mapped, '--mount', '--', 'sh', '-c', script, root, place];
}

/** Runs vitest and counts its tests. `node` replaces this Node, `limitMs` is a bound against a hang. */
export async function vitest(args = [], { node = process.execPath, limitMs = 0, place = root } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-bash-test-'));
  try {
    const report = join(folder, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const program = [...showing(place), node, join(place, 'node_modules', 'vitest', 'vitest.mjs')];
    // Tests start the Node that runs them.
    const PATH = [dirname(node), process.env.PATH].join(delimiter);
    const options = { allowFailure: true, limitMs, env: { PATH } };
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
        ...broken.map(({ name, message }) => failure(relative(place, name), message)),
        ...found.testResults.flatMap(({ name, assertionResults }) =>
          assertionResults
            .filter(({ status }) => status === 'failed')
            .map(({ fullName, failureMessages }) =>
              failure(`${relative(place, name)}: ${fullName}`, failureMessages.join('\n')),
            ),
        ),
      ],
    };
    // An error outside of any test counts as one failure.
    if (code !== 0 && counts.failed === 0) {
      counts.failures = [`vitest exited with ${code} although no test failed`];
      counts.failed = 1;
    }
    return counts;
  } catch (error) {
    return { ...NONE, failed: 1, failures: [`vitest could not run: ${error.message}`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the Rust tests and counts them. */
export async function cargo(words = [], { skip = [], limitMs = 0 } = {}) {
  const counts = { ...NONE, failures: [] };
  try {
    const colour = process.stdout.isTTY ? 'always' : 'never';
    // libtest runs the tests that contain one of the words. With the target of the set-up's build, its dependencies are
    // reused.
    const args = [
      'test',
      '--lib',
      '--target',
      triple,
      '--no-fail-fast',
      '--color',
      colour,
      '--',
      '--color',
      colour,
      ...skip.flatMap((name) => ['--skip', name]),
      ...words,
    ];
    const { code, output } = await run('cargo', args, { env, output: 'both', allowFailure: true, limitMs });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression removes colours
    const plain = output.replace(/\x1b\[[0-9;]*m/g, '');
    for (const [, passed, failed, ignored] of plain.matchAll(
      /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm,
    )) {
      counts.passed += Number(passed);
      counts.failed += Number(failed);
      counts.skipped += Number(ignored);
    }
    for (const [, name] of plain.matchAll(/^test (\S+)(?: - .*)? \.\.\. FAILED$/gm)) counts.failures.push(name);
    if (code !== 0 && counts.failed === 0) {
      counts.failures.push(`cargo test exited with ${code} although no test failed`);
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

/** The last line of a run. */
export const closing = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;

/** The projects of vitest.config.ts that use the package as users get it. */
export const NATURAL = { first: ['core', 'first'], both: ['core', 'first', 'second'] };

const projects = (names) => names.map((name) => `--project=${name}`);

/** The runs of vitest, each with its projects: all, or those that have the package as users get it. */
function selected(full, args) {
  if (!full) return [{ names: args.length > 0 ? NATURAL.both : NATURAL.first, place: root }];
  // The ways repeat the core, so without words the full run leaves out their common part.
  const open = [...(args.length > 0 ? NATURAL.both : ['first', 'second']), 'cold', 'warm', 'session'];
  const place = visiblePlace();
  if (place === root) return [{ names: [...open, 'confined'], place }];
  return [
    { names: open, place: root },
    { names: ['confined'], place },
  ];
}

/** Whether the words select a test of the packed tarballs, which hold the optimized addon. */
const packs = (words) =>
  testFiles().some((file) => file.startsWith('contract/') && words.some((word) => file.includes(word)));

if (isMain(import.meta)) {
  await main(async () => {
    const full = process.argv[2] === '--full';
    const args = process.argv.slice(full ? 3 : 2);
    await setUp({ full: full || packs(args) });
    // A word may name a slow test.
    const skip = full || args.length > 0 ? [] : SLOW_UNITS;
    const unit = args.some((arg) => arg.startsWith('-')) ? NONE : await cargo(args, { skip });
    const counts = [unit];
    for (const { names, place } of selected(full, args)) {
      counts.push(await vitest([...projects(names), ...args], { place }));
    }
    const all = sum(counts);
    if (all.passed + all.failed === 0) {
      console.error('no test ran');
      process.exitCode = 1;
    }
    if (all.failed > 0) process.exitCode = 1;
    if (all.failures.length > 0) console.log(again(all.failures));
    console.log(closing(all));
  });
}
