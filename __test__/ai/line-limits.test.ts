import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bash, TRUNCATE } from 'agent-bash';
import type { BashRunner, BashToolInput, BashToolOptions } from 'agent-bash/ai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runTool } from './fixtures/call.ts';

let folder: string;
let spill: { dir: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-bash-ai-'));
  spill = { dir: join(folder, 'spill') };
  await writeFile(join(folder, 'abc'), 'a\nb\nc\n');
});
afterAll(() => rm(folder, { recursive: true }));

const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => `${first + i}\n`).join('');

describe('a trailing tail', () => {
  it('runs the command without it and keeps its exit code', async () => {
    const run = vi.fn<BashRunner>(bash);
    const result = await runTool({ run }, '(seq 100; exit 3) | cat | tail -n 2');
    expect(run.mock.calls[0]?.[0]).toBe('(seq 100; exit 3) | cat');
    expect(result).toMatchObject({ stdout: '99\n100\n[stdout: Showing last 2 of 100 lines]', exitCode: 0, notes: [] });
    expect(await runTool({}, '(seq 100; exit 3) | tail -n 2')).toMatchObject({ exitCode: 3, status: 'exited' });
  });

  it('reports the cut', async () => {
    const { truncation, text } = await runTool({ taps: 'off' }, 'seq 100 | tail -3');
    expect(truncation).toEqual({
      stdout: {
        keep: 'tail',
        by: 'lines',
        totalLines: 100,
        totalBytes: 292,
        outputLines: 3,
        outputBytes: 10,
        firstLine: 98,
        lastLine: 100,
        partialLine: false,
        path: null,
        artifactId: null,
        spillError: null,
        notice: '[stdout: Showing last 3 of 100 lines]',
      },
      stderr: null,
    });
    expect(text).toBe('98\n99\n100\n[stdout: Showing last 3 of 100 lines]');
  });

  it('leaves stderr alone, as the pipe did', async () => {
    const { stdout, stderr } = await runTool({}, '{ seq 5; seq 8 >&2; } | tail -1');
    expect({ stdout, stderr }).toEqual({ stdout: '5\n[stdout: Showing last 1 of 5 lines]', stderr: range(1, 8) });
  });

  it('counts what 2>&1 sends through the pipe', async () => {
    const { stdout, stderr } = await runTool({}, '{ echo a; echo b >&2; echo c; echo d >&2; } 2>&1 | tail -3');
    expect({ stdout, stderr }).toEqual({ stdout: 'b\nc\nd\n[stdout: Showing last 3 of 4 lines]', stderr: '' });
    const first = await runTool({}, '{ echo a >&2; echo b; } | { cat; echo c >&2; } |& tail -1');
    expect(first).toMatchObject({ stderr: 'a\n', stdout: 'c\n[stdout: Showing last 1 of 2 lines]' });
  });

  it('cuts nothing that is short enough', async () => {
    expect(await runTool({}, 'seq 3 | tail -3')).toMatchObject({
      stdout: range(1, 3),
      truncation: { stdout: null, stderr: null },
    });
    expect((await runTool({}, 'printf "a\\nb" | tail -1')).stdout).toBe('b\n[stdout: Showing last 1 of 2 lines]');
    expect((await runTool({}, 'true | tail -1')).stdout).toBe('');
  });

  it('is counted after `cd X &&`', async () => {
    const result = await runTool({ cwd: folder }, 'cd . && cat abc none | tail -1');
    expect(result).toMatchObject({ stdout: 'c\n[stdout: Showing last 1 of 3 lines]', exitCode: 1 });
    expect(await runTool({ cwd: folder }, 'cd none && cat abc | tail -1')).toMatchObject({ stdout: '', exitCode: 1 });
  });

  it('stays in the command where streams are merged', async () => {
    const { stdout } = await runTool({ merge: true }, '{ seq 5; seq 3 >&2; } | tail -1');
    expect(stdout.trim().split('\n').sort()).toEqual(['1', '2', '3', '5']);
  });

  it('keeps the limits of the tool, whichever end they keep', async () => {
    for (const truncate of [
      { keep: 'tail', maxLines: 4 },
      { keep: 'head', maxLines: 4 },
      { keep: 'ends', maxBytes: 8, headBytes: 4, tailBytes: 4 },
    ] as const) {
      const { stdout } = await runTool({ truncate, spill }, 'seq 100 | tail -50');
      expect(stdout).toMatch(
        truncate.keep === 'ends' ? /^99\n100\n\[/ : /^97\n98\n99\n100\n\[stdout: Showing last 4 of 100/,
      );
    }
  });

  it('names the file of the whole output when bytes were cut', async () => {
    const { stdout, truncation } = await runTool({ spill }, 'seq 20000 | tail -2');
    const path = truncation.stdout?.path as string;
    expect(stdout).toBe(`19999\n20000\n[stdout: Showing last 2 of 20000 lines. Full output: ${path}]`);
    expect(await readFile(path, 'utf8')).toBe(range(1, 20_000));
    expect(truncation.stdout).toMatchObject({ totalLines: 20_000, firstLine: 19_999, lastLine: 20_000 });
  });
});

// Side by side, since each waits for two seconds.
describe.concurrent('a trailing head', () => {
  it('leaves the exit code to a command that ends in time', async () => {
    const result = await runTool({}, '(seq 9; exit 3) | head -n 2');
    expect(result).toMatchObject({ exitCode: 3, status: 'exited', notes: [] });
    expect(result.stdout).toBe('1\n2\n[truncated]\n[stdout: Showing first 2 of 9 lines]');
  });

  it('ends one that goes on, 2 s after the last wanted line, and then the code is 0', async () => {
    const result = await runTool({}, '(seq 3; sleep 60; exit 3) | head -n 2');
    expect(result).toMatchObject({ exitCode: 0, status: 'exited', signal: null });
    expect(result.notes).toContain('the command was ended after the first 2 lines of stdout, as head asks');
    expect(result.text).toMatch(/^1\n2\n\[truncated\]\n\[stdout: Showing first 2 of 3 lines\]\n/);
    expect(result.durationMs).toBeGreaterThan(1_950);
  });

  it('does not end a command that lacks its lines, nor for lines of stderr', async () => {
    const result = await runTool(
      {},
      { command: '(seq 9 >&2; echo a; printf b; sleep 60) | head -n 2', timeout_ms: 3_000 },
    );
    expect(result).toMatchObject({ exitCode: 124, status: 'timed-out', stdout: 'a\nb' });
  });

  it('holds a command that floods its pipe, and fills no disk', async () => {
    const result = await runTool({ spill }, 'yes | head -n 3');
    expect(result).toMatchObject({ exitCode: 0, status: 'exited' });
    expect(result.stdout).toMatch(/^y\ny\ny\n\[truncated\]\n\[stdout: Showing first 3 of \d+ lines/);
    expect(result.truncation.stdout?.totalBytes).toBeLessThan(64 * 1024 * 1024);
  });

  it('is no success when the caller aborts', async () => {
    const abort = new AbortController();
    const call = { abortSignal: abort.signal, onOutput: () => abort.abort() };
    const result = await runTool({ updateIntervalMs: 20 }, '(echo a; sleep 60) | head -1', call);
    expect(result).toMatchObject({ exitCode: 130, status: 'aborted' });
  });

  it('is a success when the time limit comes after the last wanted line', async () => {
    expect(await runTool({}, { command: '(seq 3; sleep 60) | head -1', timeout_ms: 1_000 })).toMatchObject({
      exitCode: 0,
      status: 'exited',
    });
  });
});

describe('head and tail of the call', () => {
  const lines = (result: { stdout: string }) => result.stdout.split('\n').filter((line) => /^\d+$/.test(line));

  it.each<[why: string, command: string, limits: Partial<BashToolInput>, first: number, last: number]>([
    ['tail', 'seq 100', { tail: 3 }, 98, 100],
    ['head', 'seq 100', { head: 3 }, 1, 3],
    ['head, then tail', 'seq 100', { head: 50, tail: 5 }, 46, 50],
    ['tail wins over a trailing tail', 'seq 100 | tail -50', { tail: 3 }, 98, 100],
    ['tail wins over a shorter trailing tail', 'seq 100 | tail -3', { tail: 5 }, 96, 100],
    ['head wins over a trailing head', 'seq 100 | head -50', { head: 3 }, 1, 3],
    ['a trailing tail goes first', 'seq 100 | tail -50', { head: 3 }, 51, 53],
    ['a trailing head goes first', 'seq 100 | head -50', { tail: 3 }, 48, 50],
    ['both win, in the order of the command', 'seq 100 | tail -50', { tail: 10, head: 3 }, 91, 93],
  ])('%s', async (_why, command, limits, first, last) => {
    const result = await runTool({}, { command, ...limits });
    expect(lines(result)).toEqual(range(first, last).trim().split('\n'));
    expect(result).toMatchObject({ exitCode: 0, notes: [] });
    expect(result.truncation.stdout).toMatchObject({ outputLines: last - first + 1, firstLine: first, lastLine: last });
  });

  it('say which lines are shown', async () => {
    const { stdout, truncation } = await runTool({}, { command: 'seq 100 | head -50', tail: 2 });
    expect(stdout).toBe('49\n50\n[stdout: Showing lines 49 to 50 of 100]');
    expect(truncation.stdout?.notice).toBe('[stdout: Showing lines 49 to 50 of 100]');
  });

  it('hold for each stream', async () => {
    const { stderr, truncation } = await runTool({}, { command: 'seq 9 >&2', tail: 2 });
    expect(stderr).toMatch(/^8\n9\n\[stderr: Showing last 2 of 9 lines\]/);
    expect(truncation).toMatchObject({ stdout: null, stderr: { totalLines: 9, outputLines: 2 } });
  });

  it('head ends the command 2 s after that line', async () => {
    const result = await runTool({}, { command: 'seq 3; sleep 60', head: 1 });
    expect(result).toMatchObject({ exitCode: 0, status: 'exited' });
    expect(result.notes).toContain('the command was ended after the first line of stdout, as head asks');
  });

  it('are made by the run itself where it can', async () => {
    const run = vi.fn<BashRunner>(bash);
    const asked = async (options: BashToolOptions, input: Partial<BashToolInput>) => {
      await runTool({ run, ...options }, { command: 'true', ...input });
      return run.mock.lastCall?.[1]?.truncate;
    };
    expect(await asked({}, {})).toBeUndefined();
    expect(await asked({}, { tail: 3 })).toEqual({ ...TRUNCATE.tail, maxLines: 3 });
    expect(await asked({}, { tail: 3_000 })).toEqual(TRUNCATE.tail);
    expect(await asked({}, { head: 3 })).toEqual({ ...TRUNCATE.tail, keep: 'head', maxLines: 3 });
    expect(await asked({}, { command: 'true | tail -3' })).toEqual(TRUNCATE.tail);
    expect(await asked({ truncate: TRUNCATE.head }, { tail: 3 })).toEqual({
      ...TRUNCATE.head,
      keep: 'tail',
      maxLines: 3,
    });
    expect(await asked({ truncate: TRUNCATE.ends }, { head: 3 })).toEqual({
      keep: 'head',
      maxBytes: 131_072,
      maxLines: 3,
    });
  });
});

describe('for every recognized pipe, the model reads the lines that the shell would have shown', () => {
  it.each([
    'cat abc | tail -2',
    'cat abc abc | grep b | tail -1',
    'cat abc none 2>&1 | tail -2',
    'cat none |& tail -1',
    'cd / && ls | head -3',
    'for i in 1 2 3; do echo $i; done | tail -2',
    '{ echo a; echo b; } | head -1',
    '(cat abc; cat abc) | cat | tail -4',
    "printf 'a|b\\nc | tail -1\\n' | tail -1",
    'echo "$(cat abc | tail -2)" | tail -1',
    'diff <(echo a) <(cat abc) | tail -2',
    'cat <<<"x | y" | tail -1',
    'cat <<EOF | tail -1\na\nb\nEOF',
    "bash -c 'cat abc | tail -1'",
    'seq 20 | tail',
    'seq 20 | head',
    'seq 20 | head -n -15',
    'seq 20 | tail -n +18',
    'seq 20 | tail -c 5',
    'cat abc | tail -1 # the last',
    'x=$(cat abc | tail -1); echo $x',
    'cat abc | head -2 | tail -1',
  ])('%j', async (command) => {
    const shell = await promisify(execFile)('bash', ['-c', command], { cwd: folder });
    const { stdout, truncation } = await runTool({ cwd: folder }, command);
    const notice = truncation.stdout?.notice ?? '';
    expect(notice === '' ? stdout : stdout.slice(0, stdout.lastIndexOf(notice))).toBe(shell.stdout);
  });
});
