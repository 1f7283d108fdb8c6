import { resolve } from '../core/builtins.ts';
import { settled } from '../core/calls.ts';
import { type Checks, checkFields, invalid, path, type } from '../core/checks.ts';
import { loadNative } from '../core/native.ts';
import type { ListChecksOptions, ReadTestsOptions, Standing, TestCounts } from './types.ts';

const CHECKS: Checks<ReadTestsOptions> = {
  command: type('string'),
  exitCode: (value, name) => {
    if (value !== null && !Number.isSafeInteger(value)) throw invalid(name, value, 'a whole number or null');
  },
};

const OF_LIST: Checks<ListChecksOptions> = { cwd: path };

/**
 * Lists the checks that ran in this process with `evidence`, the newest first: the last run of each, the last one that
 * passed, and what changed since. At most 64 are remembered. The list serves a host that lets nobody say «done» while a
 * check is missing, has failed or is stale.
 *
 * Files are compared where the last runs had `evidence: 'tree'`; otherwise `stale` is `null`.
 *
 * @example const open = (await listChecks()).filter(({ run, stale }) => run.verdict !== 'passed' || stale !== false);
 * @param options see `ListChecksOptions`; all may be left out.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for a wrong type and an unknown option.
 */
export async function listChecks(options: ListChecksOptions = {}): Promise<Standing[]> {
  checkFields<ListChecksOptions>('listChecks', options, OF_LIST);
  const { cwd } = options;
  return settled({
    begin: (way) => way.listChecks(cwd === undefined ? null : resolve(cwd)),
    kind: 'checks',
    answer: ({ checks }) => JSON.parse(checks) as Standing[],
  });
}

/**
 * Counts the tests in the output of test runners: one entry for each runner that the output proves, in the order in
 * which they began. An output without one gives an empty array. The function is pure, and reads colours, too.
 *
 * Nothing is guessed: prose, files, diffs and logs that only look like a runner count nothing.
 *
 * @example const [counts] = readTests(stdout, { command: 'pytest -q', exitCode: 1 });
 * // { runner: 'pytest', passed: 2, failed: 1, skipped: 0, total: 3, failures: ['tests/test_a.py::test_sum'],
 * //   failuresTotal: 1, complete: true }
 * @param text the whole output, with both streams as they came.
 * @param options see `ReadTestsOptions`; all may be left out.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for a wrong type and an unknown option.
 */
export function readTests(text: string, options: ReadTestsOptions = {}): TestCounts[] {
  if (typeof text !== 'string') throw invalid('text', text, 'a string');
  checkFields<ReadTestsOptions>('readTests', options, CHECKS);
  const { command, exitCode } = options;
  return JSON.parse(loadNative().readTests(text, command, exitCode !== undefined, exitCode ?? undefined));
}
