/** Runs vitest and the Rust tests, and counts their results. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { env } from './build.mjs';
import { triple } from './platform.mjs';
import { root, run } from './process.mjs';

/**
 * The counts of a run. Each of `failures` is one failed test: `{ file, name, message }`, with the `file` as a path from
 * the root, or null for a Rust test. `name` is null for a file or a program that failed outside of any test.
 */
export const NONE = { passed: 0, failed: 0, skipped: 0, failures: [] };

const failed = (failure) => ({ ...NONE, failed: 1, failures: [{ file: null, name: null, message: '', ...failure }] });

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

/** The words that name a test to people. */
export const titleOf = ({ file, name }) => [file, name].filter(Boolean).join(': ') || 'outside of any test';

/** The failures once more, for the end of a log, which is often cut to its end. Empty without failures. */
export function again(failures) {
  const texts = failures.map((failure) => {
    // Stack frames outside this project are left out.
    const lines = failure.message
      .split('\n')
      .filter((line) => line.trim() && !/^\s+at .*(node_modules|node:)/.test(line));
    return [titleOf(failure), ...lines.slice(0, 10)].filter(Boolean).join('\n    ').trimEnd();
  });
  return texts.length ? `\n--- failed:\n${texts.join('\n')}\n` : '';
}

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

/**
 * Runs vitest and counts its tests. `skips` of the counts has the names of those that were skipped. `node` replaces
 * this Node, `place` is where the run sees the clone, and `limitMs` is a bound against a hang.
 */
export async function vitest(args = [], { node = process.execPath, limitMs = 0, place = root, env = {} } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'agent-bash-test-'));
  try {
    const report = join(directory, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const program = [...showing(place), node, join(place, 'node_modules', 'vitest', 'vitest.mjs')];
    // Tests start the Node that runs them.
    const PATH = [dirname(node), process.env.PATH].join(delimiter);
    const options = { allowFailure: true, limitMs, env: { ...env, PATH } };
    const { code } = await run(program, ['run', ...reporters, '--passWithNoTests', ...args], options);
    const found = JSON.parse(readFileSync(report, 'utf8'));
    const reported = countsOf(found, place);
    if (code === 0) return reported;
    // On a machine that is too slow, vitest gives up a file whose process did not start in time.
    const { stdout } = await run(program, ['list', '--filesOnly', '--json', ...args], { ...options, output: 'keep' });
    const files = JSON.parse(stdout).map(({ file }) => file);
    const counts = { ...reported, ...sum([reported, ...notRun(files, found, place)]) };
    if (counts.failed > 0) return counts;
    // An error outside of any test counts as one failure.
    return sum([counts, failed({ message: `vitest exited with ${code} although no test failed` })]);
  } catch (error) {
    return failed({ message: `vitest could not run: ${error.message}` });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The counts in a report of vitest. A file that failed outside of any test counts as one failed test. */
function countsOf(report, place) {
  const failures = report.testResults.flatMap(({ name: path, status, message, assertionResults }) => {
    const file = relative(place, path);
    const tests = assertionResults.filter((assertion) => assertion.status === 'failed');
    if (tests.length === 0) return status === 'failed' ? [{ file, name: null, message }] : [];
    return tests.map((test) => ({ file, name: test.fullName, message: test.failureMessages.join('\n') }));
  });
  return {
    passed: report.numPassedTests,
    failed: failures.length,
    skipped: report.numPendingTests + (report.numTodoTests ?? 0),
    failures,
    skips: report.testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status }) => status === 'skipped' || status === 'pending')
      .map(({ fullName }) => fullName),
  };
}

/** A failure for each file that a report of vitest does not have. */
export function notRun(files, { testResults }, place) {
  const ran = new Set(testResults.map(({ name }) => name));
  const missing = files.filter((file) => !ran.has(file));
  return missing.map((file) => failed({ file: relative(place, file), name: null, message: 'it did not run' }));
}

/** The text as a part of a regular expression. */
const literal = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** Arguments of vitest that select one failed test, or its whole file. */
export const only = ({ file, name }) => {
  return [file, ...(name ? ['-t', `^${literal(name)}$`] : [])];
};

// With the target of the set-up's build, the dependencies of that are reused.
const TARGET = ['--lib', '--test=*', '--target', triple];
const ALL = ['--workspace', ...TARGET];
const COLOUR = ['--color', process.stdout.isTTY ? 'always' : 'never'];

let nextest;

/** Whether cargo-nextest is installed. */
async function hasNextest() {
  nextest ??= run('cargo', ['nextest', '--version'], { output: 'keep', allowFailure: true });
  return (await nextest).code === 0;
}

/** Compiles the Rust tests. */
export async function compileRust(options = {}) {
  await run('cargo', ['test', ...ALL, ...COLOUR, '--no-run'], { env, ...options });
}

/**
 * Runs the Rust tests whose crate or name contains one of the words, or all, and counts them. A test of stress is
 * marked with `#[ignore = "stress: …"]`; `stress` is 'without' (default), 'with' or 'only'. With `exact`, the words are
 * whole names.
 */
export async function rust(words = [], { stress = 'without', exact = false, limitMs = 0, env: more = {} } = {}) {
  try {
    const args = (await hasNextest()) ? nextestArgs(words, stress, exact) : libtestArgs(words, stress, exact);
    const options = { env: { ...env, ...more }, output: 'both', allowFailure: true, limitMs };
    const { code, output } = await run('cargo', args, options);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression removes colours
    const counts = rustCounts(output.replace(/\x1b\[[0-9;]*m/g, ''));
    if (code === 0 || counts.failed > 0) return counts;
    return sum([counts, failed({ message: `cargo ${args[0]} exited with ${code} although no test failed` })]);
  } catch (error) {
    return failed({ message: `cargo could not run: ${error.message}` });
  }
}

function nextestArgs(words, stress, exact) {
  const ignored = { without: 'default', with: 'all', only: 'only' }[stress];
  const crates = readdirSync(join(root, 'crates')).filter((crate) => words.some((word) => crate.includes(word)));
  const matching = exact
    ? words.map((word) => `test(=${word})`)
    : [...words.map((word) => `test(~${word})`), ...crates.map((crate) => `package(agent-bash-${crate})`)];
  const filters = words.length > 0 ? ['-E', matching.join(' + ')] : [];
  const shown = ['--no-tests=pass', '--status-level=fail', '--final-status-level=none'];
  // Many tests wait more than they compute.
  const threads = `--test-threads=${2 * availableParallelism()}`;
  return [
    'nextest',
    'run',
    ...ALL,
    ...COLOUR,
    threads,
    '--no-fail-fast',
    ...shown,
    '--run-ignored',
    ignored,
    ...filters,
  ];
}

function libtestArgs(words, stress, exact) {
  const ignored = { without: [], with: ['--include-ignored'], only: ['--ignored'] }[stress];
  const flags = [...COLOUR, ...ignored, ...(exact ? ['--exact'] : [])];
  // libtest knows no crates, so words that all name one select those.
  const areCrates = words.length > 0 && words.every((word) => existsSync(join(root, 'crates', word)));
  const [what, filters] = areCrates
    ? [words.flatMap((word) => ['-p', `agent-bash-${word}`]), []]
    : [['--workspace'], words];
  return ['test', ...what, ...TARGET, ...COLOUR, '--no-fail-fast', '--', ...flags, ...filters];
}

/** The counts in what cargo-nextest or libtest printed. */
export function rustCounts(output) {
  const lines = [
    /^test (\S+)(?: - .*)? \.\.\. FAILED$/gm,
    /^ *(?:FAIL|SIG\w+|TIMEOUT|ABORT) \[[^\]]*\] (?:\([^)]*\) )?\S+ (\S+)$/gm,
  ];
  const names = new Set(lines.flatMap((line) => [...output.matchAll(line)].map(([, name]) => name)));
  const summaries = [
    ...output.matchAll(/^test result: \w+\. (\d+) passed/gm),
    ...output.matchAll(/^ *Summary \[[^\]]*\] .*?\brun: (\d+) passed/gm),
  ];
  return {
    passed: summaries.reduce((all, [, passed]) => all + Number(passed), 0),
    failed: names.size,
    skipped: 0,
    failures: [...names].map((name) => ({ file: null, name, message: '' })),
  };
}
