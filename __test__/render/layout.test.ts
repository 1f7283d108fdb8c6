import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BackgroundRegistry, bash, type Evidence } from 'agent-bash';
import { renderText } from 'agent-bash/render';
import { expect, onTestFinished, test } from 'vitest';
import { folder, isLinux } from '../support/index.ts';
import { ended, rows, shown } from './support.ts';

const last = (text: string[]) => text.at(-1)?.replace(/\d+(?:\.\d)? m?s/g, 'T');

test('a finished command: the command, its directory, both streams, how it ended', async () => {
  const command = 'echo out; echo err >&2; exit 3';
  const cwd = folder();
  const result = await bash(command, { cwd });
  expect(rows({ command, cwd, result })).toEqual([
    `$ ${command}`,
    `in ${cwd}`,
    'out',
    'stderr:',
    'err',
    expect.stringMatching(/^exit code 3 · \d+ ms · limit 30 s$/),
  ]);
});

test('each way to end has words of its own', async () => {
  const registry = new BackgroundRegistry();
  onTestFinished(() => registry.close());
  const status = async (...[command, options]: Parameters<typeof bash>) =>
    last(rows({ command, result: await bash(command, options) }));
  const stop = new AbortController();
  expect(
    await Promise.all([
      status('true'),
      status('false'),
      status('kill -SEGV $$'),
      status('sleep 300', { timeoutMs: 1_500 }),
      status('echo go; sleep 300', { signal: stop.signal, onOutput: () => stop.abort() }),
      status('true', { signal: AbortSignal.abort() }),
      status('echo go; sleep 300', { registry, timeoutMs: 1_500 }),
      status('sleep 300', { registry, mode: 'background' }),
    ]),
  ).toEqual([
    'exit code 0 · T · limit T',
    'exit code 1 · T · limit T',
    'killed by SIGSEGV · exit code 139 · T · limit T',
    'timed out after T, ended by SIGTERM · exit code 124 · T',
    'aborted, ended by SIGTERM · exit code 130 · T · limit T',
    'aborted before it was started',
    expect.stringMatching(/^in the background: pid \d+, moved there after T$/),
    expect.stringMatching(/^in the background: pid \d+$/),
  ]);
});

test('a live one says how long it runs, and its limit', () => {
  expect(rows({ elapsedMs: 62_000, timeoutMs: 900_000 })).toEqual([
    '$ x',
    '(no output yet)',
    'running · 1 min 2 s · limit 15 min',
  ]);
  expect(rows({ output: 'half a li' })).toEqual(['$ x', 'half a li', 'running']);
  expect(last(rows({ elapsedMs: 3_720_000 }))).toBe('running · 1 h 2 min');
  expect(rows({ elapsedMs: 1_290 }).at(-1)).toBe('running · 1.2 s');
});

test('a command that could not run differs from one that failed', async () => {
  const command = 'git push --force';
  const error = await bash(command).catch((error) => error);
  const text = rows({ command, result: null, error }, { columns: Number.POSITIVE_INFINITY });
  expect(text).toHaveLength(2);
  expect(text[1]).toMatch(/^not run: .*\(ERR_BASH_BLOCKED\)$/);
  expect(rows({ error: new Error('first\nsecond') })).toEqual(['$ x', 'not run: first', 'second']);
});

test('the background task and the notes', async () => {
  const result = await bash('sleep 300 & echo');
  const pid = result.survivors[0]?.pid ?? 0;
  onTestFinished(() => void process.kill(pid));
  const survivors = [{ pid, command: 'sleep 300', taskId: null }];
  const text = rows({ result: { ...result, survivors, notes: ['a fact', 'another\none'] } });
  expect(text.slice(2, -1)).toEqual([`still running: ${pid} sleep 300`, 'note: a fact', 'note: another one']);
  const adopted = ended({ survivors: [{ pid: 9, command: 'serve', taskId: 'abc' }] });
  expect(rows({ result: adopted })[2]).toBe('still running: 9 serve (task abc)');
});

const EVIDENCE: Evidence = {
  ...{ verdict: 'failed', why: 'hidden', state: 'known', parts: [], partsTotal: 5, notKnown: null, tap: null },
  masked: ['a', 'b', 'c', 'd\u202e\u001b[2J'].map((command) => ({
    ...{ command, span: null, exitCode: 1, signal: null, times: 1, by: 'pipe', behind: 'tail -5' },
  })),
  tests: [
    {
      runner: 'vitest',
      passed: 2,
      failed: 3,
      skipped: 1,
      total: 6,
      failures: ['t1'],
      failuresTotal: 3,
      complete: true,
    },
    ...['jest', 'go-test'].map((runner, go) => ({
      ...{ runner, passed: go ? null : 0, failed: 0, skipped: go ? null : 0, total: null },
      ...{ failures: [], failuresTotal: 0, complete: true },
    })),
  ],
  checks: [
    {
      ...{ id: 'id', command: 'npm test', cwd: '/w', kind: 'test', verdict: 'failed' },
      ...{ last: null, lastPassed: null, since: null },
      again: { fixed: ['t9'], same: ['t1'], appeared: [] },
    },
  ],
};

test('the counts of tests, and the failures that the exit code hides', () => {
  const failure = (command: string) => `hidden failure: «${command}» exit code 1, behind | tail -5`;
  const result = ended({ evidence: EVIDENCE });
  expect(rows({ result }).slice(2, -1)).toEqual([
    'tests of vitest: 3 failed, 2 passed, 1 skipped',
    'tests of jest: none ran',
    'tests of go-test: none failed',
    'against the last run: 1 as before, 1 fixed',
    ...['a', 'b', 'c'].map(failure),
    '1 more hidden failure',
  ]);
  expect(rows({ result }, { expanded: true }).slice(2, -1)).toEqual([
    'tests of vitest: 3 failed, 2 passed, 1 skipped',
    '  failed t1',
    '  failed 2 more',
    'tests of jest: none ran',
    'tests of go-test: none failed',
    'against the last run: 1 as before, 1 fixed',
    ...['a', 'b', 'c', 'd\\u202e\\u001b[2J'].map(failure),
  ]);
  const [cut] = EVIDENCE.tests.slice(0, 1).map((counts) => ({ ...counts, complete: false }));
  const notKnown = { command: 'make', span: null, by: 'background', behind: null } as const;
  const open = { ...EVIDENCE, masked: [], tests: cut ? [cut] : [], checks: [], notKnown };
  expect(rows({ result: ended({ evidence: open }) }).slice(2, -1)).toEqual([
    'tests of vitest: 3 failed, 2 passed, 1 skipped, without a summary',
    'not known: the exit code of «make», behind &',
  ]);
});

test.runIf(isLinux)('a hidden failure of a real command', async () => {
  const result = await bash('sh -c "exit 3" | cat', { evidence: 'status' });
  const text = rows({ result }, { columns: Number.POSITIVE_INFINITY });
  expect(text.slice(2, -1)).toEqual(['hidden failure: «sh -c "exit 3"» exit code 3, behind | cat']);
  const wrong = { ...result, evidence: { ...result.evidence, masked: [null] } as never };
  expect(() => rows({ result: wrong })).toThrow('result.evidence: object is not Evidence, or null');
});

test('the log of a background task', async () => {
  const registry = new BackgroundRegistry({ dir: folder() });
  onTestFinished(async () => {
    await registry.killAll();
    await registry.close();
  });
  const options = { columns: Number.POSITIVE_INFINITY };
  const started = await bash('sleep 300', { registry, mode: 'background' });
  expect(rows({ result: started }, options).slice(0, 2)).toEqual(['$ x', `log: ${started.background?.logPath}`]);
  const moved = await bash('echo hi; sleep 300', { registry, timeoutMs: 2_000 });
  expect(rows({ result: moved }, options).slice(1, 3)).toEqual(['hi', `log: ${moved.background?.logPath}`]);
  expect(rows({ result: moved, output: 'live' }, options).slice(1, 3)).toEqual([
    'live',
    `log: ${moved.background?.logPath}`,
  ]);
});

test('a preview has the last 20 logical lines of both streams in all, and says how many are left out', async () => {
  const result = await bash('seq 30; seq 101 112 >&2');
  const text = rows({ result });
  expect(text.slice(1, -1)).toEqual([
    '… 22 earlier lines',
    ...Array.from({ length: 8 }, (_, index) => String(23 + index)),
    'stderr:',
    ...Array.from({ length: 12 }, (_, index) => String(101 + index)),
  ]);
  expect(rows({ result }, { previewLines: 1 }).slice(1, -1)).toEqual(['… 41 earlier lines', 'stderr:', '112']);
  expect(rows({ result }, { previewLines: 0 }).slice(1, -1)).toEqual(['… 42 earlier lines']);
  expect(rows({ result }, { expanded: true })).toHaveLength(45);
});

test('empty lines are lines, and the newline at the end begins none', () => {
  expect(shown('\n\na\n', { previewLines: 2 })).toEqual(['… 1 earlier line', '', 'a']);
  expect(shown('\n')).toEqual(['']);
  expect(shown('a\n\n')).toEqual(['a', '']);
  expect(shown('')).toEqual(['(no output)']);
});

test('a logical line that takes many rows is one line', () => {
  const text = rows({ result: ended({ stdout: `${'a'.repeat(25)}\nb\n` }) }, { columns: 10, previewLines: 2 });
  expect(text.slice(1, 5)).toEqual(['aaaaaaaaaa', 'aaaaaaaaaa', 'aaaaa', 'b']);
});

test('a line is clamped at 4,000 characters, not in the middle of one, unless expanded', () => {
  const long = 'x'.repeat(16_345);
  expect(shown(long)).toEqual([`${'x'.repeat(4_000)} … 12,345 more characters`]);
  expect(shown(`${'x'.repeat(3_999)}😀y`)).toEqual([`${'x'.repeat(3_999)} … 3 more characters`]);
  expect(shown(long, { expanded: true })).toEqual([long]);
  expect(shown('x'.repeat(4_000))).toEqual(['x'.repeat(4_000)]);
  expect(rows({ command: long })[0]).toBe(`$ ${'x'.repeat(78)}`);
});

test('a long command has its first lines in a preview', () => {
  const command = `${Array.from({ length: 12 }, (_, index) => `line ${index}`).join('\n')}\n`;
  expect(rows({ command }).slice(9, 11)).toEqual(['  line 9', '  … 2 more lines']);
  expect(rows({ command: '\n' }).slice(0, -2)).toEqual(['$ ']);
  expect(rows({ command: '' }).slice(0, -2)).toEqual(['$ ']);
  expect(rows({ command: 'a\r\nb\n\n' }).slice(0, -2)).toEqual(['$ a', '  b', '  ']);
  expect(rows({ command }, { expanded: true }).slice(9, 12)).toEqual(['  line 9', '  line 10', '  line 11']);
});

test('the notice of a cut follows the output', async () => {
  const options = { columns: Number.POSITIVE_INFINITY, previewLines: 2 };
  const tail = await bash('seq 20000');
  onTestFinished(() => rm(tail.truncation.stdout?.path ?? '', { force: true }));
  expect(rows({ result: tail }, options).slice(1, -1)).toEqual([
    '… 1,998 earlier lines',
    '19999',
    '20000',
    `[stdout: Showing last 2000 of 20000 lines. Full output: ${tail.truncation.stdout?.path}]`,
  ]);
  const head = await bash('seq 100', { truncate: { keep: 'head', maxChars: 4 }, spill: false });
  expect(rows({ result: head }, options).slice(1, -1)).toEqual([
    '1',
    '2',
    '[truncated]',
    '[stdout: Showing first 4 of 292 characters]',
  ]);
  const truncate = { keep: 'ends', maxBytes: 4096, headBytes: 4, tailBytes: 6 } as const;
  const ends = await bash('seq 10000', { truncate });
  onTestFinished(() => rm(ends.truncation.stdout?.path ?? '', { force: true }));
  expect(rows({ result: ends }, { ...options, expanded: true }).slice(1, -1)).toEqual([
    '1',
    '2',
    '',
    '[snip]',
    '',
    '10000',
    '[output truncated in middle: got 48kB, max is 4kB]',
    `[stdout: Full output: ${ends.truncation.stdout?.path}]`,
  ]);
  const bare = await bash('seq 10000', { truncate, spill: false });
  expect(rows({ result: bare }, options).slice(-3, -1)).toEqual([
    '10000',
    '[output truncated in middle: got 48kB, max is 4kB]',
  ]);
});

test('live text takes the place of the streams, and the whole of them is still named', async () => {
  const result = await bash('seq 20000');
  onTestFinished(() => rm(result.truncation.stdout?.path ?? '', { force: true }));
  const text = rows({ result, output: 'as it came\n' }, { columns: Number.POSITIVE_INFINITY });
  expect(text.slice(1, -1)).toEqual(['as it came', `[stdout: Full output: ${result.truncation.stdout?.path}]`]);
  expect(rows({ result: ended({ stdout: 'x' }), output: '' })[1]).toBe('(no output)');
});

test('beside live text the whole streams are named in the words of the notice', async () => {
  // A path may have what separates the parts of a notice.
  const dir = join(folder(), 'a. b]\nc');
  const named = async (given: object) => {
    const result = await bash('seq 20000', given);
    const text = rows({ result, output: 'live' }, { columns: Number.POSITIVE_INFINITY });
    const lines = text.filter((line) => line.startsWith('[stdout: '));
    return { lines, path: result.truncation.stdout?.path?.replaceAll('\n', ' ') };
  };
  const allocate = () => ({ id: 'a1', path: join(dir, 'a1') });
  const head = { keep: 'head', maxChars: 4 };
  const ends = { keep: 'ends', maxBytes: 4096, headBytes: 4, tailBytes: 6 };
  for (const truncate of [undefined, head, ends]) {
    const file = await named({ spill: { dir }, truncate });
    expect(file.lines).toEqual([`[stdout: Full output: ${file.path}]`]);
    const stored = await named({ spill: { allocate }, truncate });
    expect(stored.lines).toEqual(['[stdout: Full output: artifact://a1]']);
    const part = await named({ spill: { allocate, maxBytes: 9_000 }, truncate });
    const incomplete = 'Full output file may be incomplete: artifact://a1 (stopped at its limit of 9000 bytes)';
    expect(part.lines).toEqual([`[stdout: ${incomplete}]`]);
    const lost = await named({ spill: { allocate: () => null }, truncate });
    expect(lost.lines).toEqual(['[stdout: The full output could not be kept: nothing was allocated]']);
    expect((await named({ spill: false, truncate })).lines).toEqual([]);
  }
});

test('a line of 1 MB takes one column in about the time that it takes eighty', () => {
  const line = 'x'.repeat(2 ** 20);
  const best = new Map([
    [1, Number.POSITIVE_INFINITY],
    [80, Number.POSITIVE_INFINITY],
  ]);
  for (let round = 0; round < 4; round++) {
    for (const [columns, least] of best) {
      const begin = performance.now();
      const text = renderText({ command: 'x', result: ended({ stdout: line }) }, { columns, expanded: true });
      best.set(columns, Math.min(least, performance.now() - begin));
      if (columns === 1) expect(text.length).toBeGreaterThan(2 * 2 ** 20);
    }
  }
  // An object per row takes two hundred times as long.
  expect((best.get(1) ?? 0) / (best.get(80) ?? 0)).toBeLessThan(60);
});

test('a result is the same after a JSON round trip', async () => {
  const result = await bash('seq 30; exit 4');
  const run = { command: 'x', result };
  expect(renderText(structuredClone(run))).toBe(renderText(run));
  expect(renderText(JSON.parse(JSON.stringify(run)))).toBe(renderText(run));
});

test.each([
  [null, 'run: object is not an object'],
  [{ command: 1, result: null }, 'command: 1 is not a string'],
  [{ command: 'x' }, 'result: undefined is not a BashResult'],
  [{ command: 'x', result: 'text' }, 'result: "text" is not a BashResult'],
  [{ command: 'x', result: { stdout: '' } }, 'result.stderr: undefined is not a string'],
  [{ command: 'x', result: ended({ status: 'running' as never }) }, 'result.status: "running" is not one of exited'],
  [{ command: 'x', result: null, elapsedMs: -1 }, 'elapsedMs: -1 is not a number of milliseconds'],
  [{ command: 'x', result: null, error: {} }, 'error: object is not an error with a message'],
])('%j is refused by name', (run, message) => {
  const call = () => renderText(run as never);
  expect(call).toThrow(message);
  expect(call).toThrow(expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }));
});

test.each([
  [{ columns: 0 }, 'columns: 0 is not a whole number of at least 1'],
  [{ columns: '80' }, 'columns: "80"'],
  [{ previewLines: 1.5 }, 'previewLines: 1.5'],
  [{ colour: 'always' }, 'colour: "always" is not a boolean'],
  [{ expanded: 1 }, 'expanded: 1'],
])('the option %j is refused by name', (options, message) => {
  expect(() => renderText({ command: 'x', result: null }, options as never)).toThrow(message);
});
