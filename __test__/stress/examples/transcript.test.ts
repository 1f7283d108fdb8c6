import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { EXAMPLE } from './support.ts';

const { Transcript, wantsColour } = await import(join(EXAMPLE, 'transcript.mjs'));

let written: string;
const terminal = { isTTY: true, columns: 40, write: (text: string) => (written += text) };
const pipe = { ...terminal, isTTY: false };

beforeEach(() => {
  written = '';
});

function result(changes: object = {}) {
  return {
    stdout: '',
    stderr: '',
    exitCode: 0,
    status: 'exited',
    signal: null,
    pid: 1,
    durationMs: 1234,
    timeoutMs: 30_000,
    truncation: { stdout: null, stderr: null },
    notes: [],
    ...changes,
  };
}

describe('the line that closes a command', () => {
  test.each([
    [{}, '  ✓ exit 0 · 1.2 s'],
    [{ durationMs: 8.4 }, '  ✓ exit 0 · 8 ms'],
    [{ exitCode: 3, durationMs: 75_000 }, '  ✗ exit 3 · 75 s'],
    [{ exitCode: 124, status: 'timed-out' }, '  ✗ timed out after 30 s, exit 124 · 1.2 s'],
    [{ exitCode: 139, status: 'signaled', signal: 'SIGSEGV' }, '  ✗ killed by SIGSEGV, exit 139 · 1.2 s'],
    [{ exitCode: 130, status: 'aborted' }, '  ✗ interrupted, exit 130 · 1.2 s'],
    [
      {
        truncation: {
          stdout: { keep: 'tail', by: 'lines', totalLines: 9, outputLines: 2, path: null },
          stderr: {
            keep: 'head',
            by: 'bytes',
            totalLines: 5,
            outputLines: 5,
            totalBytes: 99,
            outputBytes: 90,
            path: '/x',
          },
        },
      },
      '  ✓ exit 0 · 1.2 s · stdout cut: last 2 of 9 lines shown · stderr cut: first 90 of 99 bytes shown, whole in /x',
    ],
    [
      { view: { tokens: { before: 300, after: 40 }, elided: [] } },
      '  ✓ exit 0 · 1.2 s · 40 of 300 tokens for the model',
    ],
  ])('%j', (changes, line) => {
    const transcript = new Transcript(pipe, { colour: false });
    transcript.begin('1', { command: 'x' });
    transcript.end('1', result(changes));
    expect(written).toBe(`\n$ x\n${line}\n`);
  });

  test('a command that never ran says why', () => {
    const transcript = new Transcript(pipe, { colour: false });
    transcript.begin('1', { command: 'x', cwd: '/nowhere' });
    transcript.end('1', { error: 'Working directory does not exist: /nowhere', code: 'ERR_BASH_CWD_NOT_FOUND' });
    expect(written).toBe('\n$ x  (cwd /nowhere)\n  ✗ nothing ran: Working directory does not exist: /nowhere\n');
  });
});

describe('a process in the background', () => {
  const task = { pid: 77, logPath: '/logs/t1.log', state: 'running', exitCode: null, signal: null };

  test.each([
    [
      'started',
      result({ status: 'backgrounded', exitCode: null, background: task }),
      '✓ in the background · pid 77 · output in /logs/t1.log',
    ],
    ['checked', { task, output: 'up\n' }, '│ up\n  ✓ pid 77 · still running'],
    ['that ended', { task: { ...task, state: 'exited', exitCode: 3 }, output: '' }, '✓ pid 77 · exit 3'],
    ['killed', { task: { ...task, state: 'killed', signal: 'SIGTERM' }, output: '' }, '✓ pid 77 · killed by SIGTERM'],
  ])('%s', (_, output, shown) => {
    const transcript = new Transcript(pipe, { colour: false });
    transcript.begin('1', { command: null, check_pid: 77, mode: null });
    transcript.end('1', output);
    expect(written).toBe(`\n$ check_pid 77\n  ${shown}\n`);
  });
});

describe('live progress', () => {
  const running = (stdout: string) => ({
    status: 'running',
    stdout,
    stderr: '',
    exitCode: null,
    pid: 1,
    durationMs: 500,
  });

  test('is one line on a terminal, no wider than it, and gone at the end', () => {
    const transcript = new Transcript(terminal, { colour: false });
    transcript.begin('1', { command: 'x' });
    transcript.progress('1', running('one\n'));
    transcript.progress('1', running(`one\n${'two '.repeat(30)}`));
    transcript.end('1', result({ stdout: 'end\n' }));
    const [, header, ...rest] = written.split('\n');
    expect(header).toBe('$ x');
    const shown = (rest[0] ?? '').split('\r\u001b[2K');
    expect(shown[0]).toBe('  ⋯ 500 ms  one');
    expect(shown[1]?.length).toBe(39);
    expect(shown[2]).toBe('  │ end');
  });

  test('is a line now and then in a pipe, without any control character', () => {
    const transcript = new Transcript(pipe, { colour: false });
    transcript.begin('1', { command: 'x' });
    for (let step = 0; step < 100; step++) transcript.progress('1', running(`step ${step}\n`));
    transcript.end('1', result());
    expect(written).toBe('\n$ x\n  ⋯ 500 ms  step 0\n  ✓ exit 0 · 1.2 s\n');
  });
});

describe('the transcript', () => {
  test('with two commands at once, each result is below its command', () => {
    const transcript = new Transcript(pipe, { colour: false });
    transcript.begin('1', { command: 'first' });
    transcript.begin('2', { command: 'second' });
    transcript.end('1', result({ stdout: 'one\n' }));
    transcript.end('2', result({ stdout: 'two\n' }));
    const close = '  ✓ exit 0 · 1.2 s\n';
    expect(written).toBe(`\n$ first\n\n$ second\n\n$ first\n  │ one\n${close}\n$ second\n  │ two\n${close}`);
  });

  test('of long output its end, with the number of lines above', () => {
    const transcript = new Transcript(pipe, { colour: false });
    transcript.begin('1', { command: 'x' });
    transcript.end('1', result({ stdout: Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join('') }));
    expect(written).toContain('│ … 6 lines above are not shown here; the model has them\n  │ line 7\n');
    expect(written).toContain('│ line 30\n');
  });

  test('of output that the model reads in part, no claim that it has all', () => {
    const transcript = new Transcript(pipe, { colour: false });
    transcript.begin('1', { command: 'x' });
    const view = { tokens: { before: 300, after: 40 }, elided: [{ stream: 'stdout', fromLine: 2, toLine: 20 }] };
    transcript.end('1', result({ stdout: 'line\n'.repeat(30), view }));
    expect(written).toContain('│ … 6 lines above are not shown here; the model has those that matter\n');
  });

  test('of a hostile model no escape sequence and no bell', () => {
    const transcript = new Transcript(terminal, { colour: false });
    transcript.say('\u001b]0;title\u0007\u001b[2Jhi\r\n');
    transcript.begin('1', { command: 'echo \u001b[31m\u0007x', cwd: '\u001b[2J/' });
    transcript.end('1', result({ notes: ['\u001b[1mnote'] }));
    expect(written).toBe('hi\n\n$ echo x  (cwd /)\n  note: note\n  ✓ exit 0 · 1.2 s\n');
  });
});

test.each([
  [{ isTTY: true }, {}, true],
  [{ isTTY: true }, { NO_COLOR: '1' }, false],
  [{ isTTY: true }, { NO_COLOR: '' }, true],
  [{ isTTY: true }, { TERM: 'dumb' }, false],
  [{}, {}, false],
  [{}, { FORCE_COLOR: '1' }, true],
  [{ isTTY: true }, { FORCE_COLOR: '0' }, false],
])('colour on %j with %j: %s', (out, env, colour) => {
  expect(wantsColour(out, env)).toBe(colour);
});
