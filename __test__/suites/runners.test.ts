import { describe, expect, test } from 'vitest';
import { again, closing, notRun, only, rustCounts, titleOf } from '../../scripts/runners.mjs';

const failure = (name: string) => ({ file: null, name, message: '' });

describe('the counts of the Rust tests', () => {
  test('of libtest', () => {
    const output = `
test a::b ... ok
test a::c - should panic ... FAILED
test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 5 filtered out; finished in 0.00s
`;
    expect(rustCounts(output)).toEqual({ passed: 1, failed: 1, skipped: 0, failures: [failure('a::c')] });
  });

  test('of cargo-nextest, which prints a failure twice', () => {
    const output = `
        FAIL [   0.012s] (12/34) agent-bash a::c
     SIGABRT [   0.012s] (13/34) agent-bash a::d
     TIMEOUT [  60.012s] agent-bash a::e
     Summary [   0.012s] 34 tests run: 31 passed (1 slow), 3 failed, 8 skipped
        FAIL [   0.012s] (12/34) agent-bash a::c
`;
    const failures = ['a::c', 'a::d', 'a::e'].map(failure);
    expect(rustCounts(output)).toEqual({ passed: 31, failed: 3, skipped: 0, failures });
  });

  test('of one test', () => {
    expect(rustCounts('     Summary [   0.012s] 1 test run: 1 passed, 9 skipped\n').passed).toBe(1);
  });
});

test('a file that vitest has given up is a failure', () => {
  const report = { testResults: [{ name: '/place/a.test.ts' }] };
  expect(notRun(['/place/a.test.ts', '/place/b.test.ts'], report, '/place')).toMatchObject([
    { failed: 1, failures: [{ file: 'b.test.ts', name: null, message: 'it did not run' }] },
  ]);
});

test('a failed test is selected by its whole name', () => {
  expect(only({ file: 'a.test.ts', name: 'costs $1 (a|b)', message: '' })).toEqual([
    'a.test.ts',
    '-t',
    '^costs \\$1 \\(a\\|b\\)$',
  ]);
  expect(only({ file: 'a.test.ts', name: null, message: '' })).toEqual(['a.test.ts']);
});

test('the end of a log has the failures once more, without frames of others', () => {
  const message =
    'Error: no\n    at here (ts/a.ts:1:1)\n    at there (node:internal/x)\n    at that (/x/node_modules/y)';
  expect(again([{ file: 'a.test.ts', name: 'b', message }])).toBe(
    '\n--- failed:\na.test.ts: b\n    Error: no\n        at here (ts/a.ts:1:1)\n',
  );
  expect(again([])).toBe('');
  expect(titleOf(failure('a::b'))).toBe('a::b');
  expect(closing({ passed: 1, failed: 2, skipped: 3, failures: [] })).toBe('1 passed, 2 failed, 3 skipped');
});
