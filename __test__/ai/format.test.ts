import { type BashToolOutput, createBashTool, formatResult } from 'agent-bash/ai';
import { describe, expect, it } from 'vitest';
import type { BashResult } from './fixtures/call.ts';

const RESULT: BashResult = {
  stdout: '',
  stderr: '',
  exitCode: 0,
  status: 'exited',
  signal: null,
  pid: 7,
  durationMs: 1,
  timeoutMs: 30_000,
  truncation: { stdout: null, stderr: null },
  background: null,
  survivors: [],
  usage: { userMs: 0, systemMs: 0, maxRssBytes: 0 },
  notes: [],
};
const MORE_TIME = 'To give the command more time, use mode "slow" (15 min) or a larger timeout_ms (up to 3600000).';

const TEXTS: [why: string, result: Partial<BashResult>, text: string][] = [
  ['a success', { stdout: 'hi\n' }, 'stdout:\nhi\n\nexit code: 0'],
  ['no newline at the end', { stdout: 'hi' }, 'stdout:\nhi\n\nexit code: 0'],
  ['one more newline', { stdout: 'hi\n\n' }, 'stdout:\nhi\n\n\nexit code: 0'],
  ['no output', {}, '(no output)\n\nexit code: 0'],
  ['stderr alone', { stderr: 'oh\n' }, 'stderr:\noh\n\nexit code: 0'],
  ['both streams', { stdout: 'a\n', stderr: 'b\n' }, 'stdout:\na\n\nstderr:\nb\n\nexit code: 0'],
  ['a failure', { stdout: 'a\n', exitCode: 3 }, '[command failed: exit code 3]\n\nstdout:\na\n\nexit code: 3'],
  [
    'a signal',
    { status: 'signaled', signal: 'SIGSEGV', exitCode: 139 },
    '[command killed: SIGSEGV]\n\n(no output)\n\nexit code: 139',
  ],
  [
    'a time limit',
    { status: 'timed-out', signal: 'SIGTERM', exitCode: 124, stdout: 'a\n' },
    `[command timed out after 30s]\n\nstdout:\na\n\nexit code: 124\n\n${MORE_TIME}`,
  ],
  [
    'a time limit of no whole seconds',
    { status: 'timed-out', exitCode: 124, timeoutMs: 1_500 },
    `[command timed out after 1.5s]\n\n(no output)\n\nexit code: 124\n\n${MORE_TIME}`,
  ],
  [
    'an abort',
    { status: 'aborted', exitCode: 130, stdout: 'a\n' },
    '[command interrupted]\n\nstdout:\na\n\nexit code: 130',
  ],
  [
    'notes',
    { stdout: 'a\n', exitCode: 1, notes: ['one fact', 'another'] },
    '[command failed: exit code 1]\n\nstdout:\na\n\nexit code: 1\n\n[one fact]\n[another]',
  ],
];

describe('formatResult', () => {
  it.each(TEXTS)('%s', (_why, part, text) => {
    expect(formatResult({ ...RESULT, ...part })).toBe(text);
  });
});

describe('toModelOutput', () => {
  const model = (output: BashToolOutput, errorOnFailure = false) =>
    createBashTool({ errorOnFailure }).toModelOutput({ toolCallId: '1', input: {}, output });

  it.each(TEXTS)('%s is an ordinary text', (_why, part, text) => {
    expect(model({ ...RESULT, ...part })).toEqual({ type: 'text', value: text });
  });

  it.each(TEXTS)('%s with errorOnFailure', (_why, part, text) => {
    const failed = (part.exitCode ?? 0) !== 0;
    expect(model({ ...RESULT, ...part }, true)).toEqual({ type: failed ? 'error-text' : 'text', value: text });
  });

  it('an error is its message', () => {
    const output = { error: 'Working directory does not exist: /x', code: 'ERR_BASH_CWD_NOT_FOUND' };
    expect(model(output)).toEqual({ type: 'error-text', value: 'Working directory does not exist: /x' });
  });

  it('a snapshot that was left says that the command was interrupted', () => {
    const output = {
      status: 'running' as const,
      stdout: 'so far\n',
      stderr: '',
      exitCode: null,
      pid: 7,
      durationMs: 9,
    };
    expect(model(output)).toEqual({ type: 'text', value: '[command interrupted]\n\nstdout:\nso far' });
  });
});
