import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BashError, readTests } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../support/index.ts';

const COUNTS = join(packageRoot, 'crates/reduce/counts');
const recorded = (runner: string, name: string) => readFile(join(COUNTS, runner, `${name}.txt`), 'utf8');

/** The runners that have recorded outputs. `cargo test --lib counts` compares each of these with its counts. */
const runners = (await readdir(COUNTS)).filter((name) => name.endsWith('.toml')).map((name) => name.slice(0, -5));

test.each(runners)('%s: an output with failures counts them', async (runner) => {
  const name =
    runner === 'tap' ? 'fail' : runner === 'cargo-test' ? 'several' : runner === 'node-test' ? 'fail-tap' : '';
  const text = await recorded(runner, name || (runner === 'vitest' ? 'v4-fail' : 'fail'));
  const [counts, ...others] = readTests(text);
  expect(others).toEqual([]);
  expect(counts).toMatchObject({ runner });
  expect(counts?.failed).toBeGreaterThan(0);
});

describe('readTests', () => {
  test('undefined counts as left out', async () => {
    const text = await recorded('pytest', 'fail');
    expect(readTests(text, { command: undefined, exitCode: undefined })).toEqual(readTests(text));
    expect(readTests(text, undefined)).toEqual(readTests(text));
  });

  test('the shape is plain data', async () => {
    const [counts] = readTests(await recorded('pytest', 'fail'), { command: 'pytest', exitCode: 1 });
    expect(counts).toEqual({
      runner: 'pytest',
      passed: 2,
      failed: 3,
      skipped: 2,
      total: 7,
      failures: [
        'tests/test_mixed.py::test_sum',
        'tests/test_mixed.py::test_captured',
        'tests/test_mixed.py::test_error',
      ],
      failuresTotal: 3,
      complete: true,
    });
    expect(JSON.parse(JSON.stringify(counts))).toEqual(counts);
  });

  test('what a runner does not print is null', async () => {
    const [counts] = readTests(await recorded('go-test', 'fail'));
    expect(counts).toMatchObject({ passed: null, failed: 2, skipped: null, total: null, complete: true });
  });

  test('a text without a runner is an empty array', () => {
    expect(readTests('')).toEqual([]);
    expect(readTests('All tests passed!\n')).toEqual([]);
  });

  test('the command lets a terse summary count', () => {
    const text = '3 passed in 0.01s\n';
    expect(readTests(text)).toEqual([]);
    expect(readTests(text, { command: 'python3 -m pytest -q 2>&1 | tail -1' })).toMatchObject([
      { passed: 3, total: 3 },
    ]);
  });

  test('a command that only shows files or searches counts nothing', async () => {
    const text = await recorded('pytest', 'fail');
    for (const command of ['cat log', 'grep -n passed log', 'tail -20 log', 'cat log | grep passed']) {
      expect(readTests(text, { command }), command).toEqual([]);
    }
  });

  test('two runners in one output have an entry each, and more of one are added up', async () => {
    const [pytest, jest, cargo] = await Promise.all([
      recorded('pytest', 'all-pass'),
      recorded('jest', 'fail'),
      recorded('cargo-test', 'all-pass'),
    ]);
    expect(readTests(pytest + jest + cargo + pytest)).toMatchObject([
      { runner: 'pytest', passed: 6, total: 6, complete: true },
      { runner: 'jest', passed: 3, failed: 1, complete: true },
      { runner: 'cargo-test', passed: 2, complete: true },
    ]);
  });

  test('a run that was killed is not complete where further summaries could follow', async () => {
    const cargo = await recorded('cargo-test', 'all-pass');
    const pytest = await recorded('pytest', 'all-pass');
    for (const exitCode of [null, 137]) {
      expect(readTests(cargo, { exitCode })).toMatchObject([{ complete: false }]);
      expect(readTests(pytest, { exitCode })).toMatchObject([{ complete: true }]);
    }
    expect(readTests(cargo, { exitCode: 101 })).toMatchObject([{ complete: true }]);
  });

  test('at most 50 names are given, and all are counted', () => {
    const failed = Array.from({ length: 60 }, (_, at) => `--- FAIL: Test${at} (0.00s)\n`).join('');
    const [counts] = readTests(`${failed}FAIL\nFAIL\texample.com/app\t0.1s\n`);
    expect(counts).toMatchObject({ failed: 60, failuresTotal: 60, complete: true });
    expect(counts?.failures).toHaveLength(50);
  });

  test.each([
    ['text', () => readTests(1 as never)],
    ['command', () => readTests('', { command: 1 as never })],
    ['exitCode', () => readTests('', { exitCode: 0.5 })],
    ['exitCode', () => readTests('', { exitCode: '1' as never })],
    ['options', () => readTests('', 'npm test' as never)],
    ['commands', () => readTests('', { commands: 'npm test' } as never)],
  ])('a wrong %s is refused by name', (name, call) => {
    expect(call).toThrow(BashError);
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }));
    expect(call).toThrow(name);
  });
});
