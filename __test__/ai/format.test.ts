import type {
  BackgroundCheck,
  BackgroundTask,
  Check,
  Confinement,
  Evidence,
  Masked,
  TestCounts,
  Truncation,
  View,
} from 'agent-bash';
import { type BashToolOptions, type BashToolOutput, createBashTool, formatCheck, formatResult } from 'agent-bash/ai';
import { describe, expect, it } from 'vitest';
import { type BashResult, CHECK, RESULT } from './fixtures/call.ts';

const MORE_TIME =
  'To give the command more time, use mode "slow" (15 min), a larger timeout_ms (up to 3600000), or mode "background".';

const TASK: BackgroundTask = {
  id: 't0123456789ab',
  pid: 12345,
  pgid: 12346,
  command: 'npm run dev',
  cwd: '/',
  logPath: '/logs/t0123456789ab.log',
  startedAt: 1,
  state: 'running',
  exitCode: null,
  signal: null,
  endedAt: null,
  target: null,
  draft: null,
};
const UNCUT: Truncation = {
  keep: 'tail',
  by: 'lines',
  totalLines: 1,
  totalBytes: 2,
  outputLines: 1,
  outputBytes: 2,
  firstLine: 1,
  lastLine: 1,
  partialLine: false,
  path: TASK.logPath,
  artifactId: null,
  spillError: null,
  notice: '',
};
const CONFINED: Confinement = {
  profile: 'workspace',
  held: ['files', 'network', 'processes', 'syscalls'],
  missing: [],
  denied: [],
  way: 'namespaces',
  write: [],
  deniedTotal: 0,
  tmp: null,
  secrets: [],
};
const BACKGROUND: Partial<BashResult> = { status: 'backgrounded', exitCode: null, pid: 12345, background: TASK };
const MOVED: Partial<BashResult> = {
  ...BACKGROUND,
  timeoutMs: 120_000,
  truncation: { stdout: UNCUT, stderr: UNCUT },
};

/** A failure: the command, its end, what hides it, and behind what. */
type Failure = [string, number | string, Masked['by'], string | null];

/** Evidence with these failures. */
const hiding = (...failures: Failure[]): Evidence => ({
  verdict: 'failed',
  why: 'hidden',
  state: 'known',
  parts: [],
  partsTotal: failures.length,
  masked: failures.map(([command, end, by, behind]) => ({
    command,
    span: null,
    exitCode: typeof end === 'number' ? end : null,
    signal: typeof end === 'string' ? end : null,
    times: 1,
    by,
    behind,
  })),
  notKnown: null,
  tests: [],
  checks: [],
  tap: null,
});

/** Evidence of a shell that was not watched. */
const unwatched = (by: Masked['by'], behind: string | null, command = 'npm test 2>&1'): Evidence => ({
  ...hiding(),
  state: 'unknown',
  notKnown: { command, span: null, by, behind },
});

/** The counts of a runner: passed, failed and skipped tests. */
const counts = (runner: string, passed: number | null, failed: number, skipped: number | null): TestCounts => ({
  runner,
  passed,
  failed,
  skipped,
  total: null,
  failures: [],
  failuresTotal: 0,
  complete: true,
});

/** Evidence with these counts, and the names of the tests of each check against its last run. */
const tested = (tests: TestCounts[], ...again: Check['again'][]): Evidence => ({
  ...hiding(),
  tests,
  checks: again.map((again) => ({
    id: 'id',
    command: 'npm test',
    cwd: '/w',
    kind: 'test',
    verdict: 'failed',
    last: null,
    lastPassed: null,
    since: null,
    again,
  })),
});

/** A view with this text. */
const view = (text: string): View => ({
  text,
  tokens: { before: 9, after: 5 },
  class: 'green',
  elided: [],
  rules: ['repeats'],
  id: 0,
  path: null,
});

const TEXTS: [why: string, result: Partial<BashResult>, text: string][] = [
  ['a success', { stdout: 'hi\n' }, 'stdout:\nhi\n\nexit code: 0'],
  ['no newline at the end', { stdout: 'hi' }, 'stdout:\nhi\n\nexit code: 0'],
  ['one more newline', { stdout: 'hi\n\n' }, 'stdout:\nhi\n\n\nexit code: 0'],
  ['no output', {}, '(no output)\n\nexit code: 0'],
  ['stderr alone', { stderr: 'oh\n' }, 'stderr:\noh\n\nexit code: 0'],
  ['both streams', { stdout: 'a\n', stderr: 'b\n' }, 'stdout:\na\n\nstderr:\nb\n\nexit code: 0'],
  ['a view', { stdout: 'a\na\na\n', view: view('a\n[x3]\n') }, 'a\n[x3]'],
  [
    'a view of a failure',
    { stdout: 'a\na\n', stderr: 'b\n', exitCode: 3, view: view('stdout:\na\n[x2]\n\nstderr:\nb\n') },
    '[command failed: exit code 3]\n\nstdout:\na\n[x2]\n\nstderr:\nb',
  ],
  ['a failure', { stdout: 'a\n', exitCode: 3 }, '[command failed: exit code 3]\n\nstdout:\na'],
  [
    'failures that the exit code hides',
    { stdout: 'a\n', evidence: hiding(['npm test', 1, 'pipe', 'tail -5'], ['a', 2, 'or', 'true']) },
    'stdout:\na\n\nexit code: 0\n\n[hidden failure: «npm test» exit code 1, behind | tail -5]\n[hidden failure: «a» exit code 2, behind || true]',
  ],
  [
    'more hidden failures than are listed, long and by a signal',
    {
      evidence: hiding(
        ['x\n'.repeat(40), 'SIGSEGV', 'sequence', 'echo done'],
        ['b', 1, 'background', null],
        ['c', 1, 'substitution', null],
        ['d', 1, 'pipe', 'cat'],
        ['e', 1, 'pipe', 'cat'],
      ),
    },
    `(no output)\n\nexit code: 0\n\n[hidden failure: «${'x '.repeat(29)}x…» killed: SIGSEGV, behind ; echo done]\n[hidden failure: «b» exit code 1, behind &]\n[hidden failure: «c» exit code 1, in $(…)]\n[2 more hidden failures]`,
  ],
  [
    'as many hidden failures as evidence lists',
    { evidence: hiding(...Array.from({ length: 20 }, (): Failure => ['a', 1, 'background', null])) },
    `(no output)\n\nexit code: 0\n\n${'[hidden failure: «a» exit code 1, behind &]\n'.repeat(3)}[at least 17 more hidden failures]`,
  ],
  [
    'a program behind a pipe whose exit code is not known',
    { evidence: unwatched('pipe', 'tail -5') },
    '(no output)\n\nexit code: 0\n\n[not known: the exit code of «npm test 2>&1», behind | tail -5]',
  ],
  [
    'a long program whose exit code is not known, in the background',
    { evidence: unwatched('background', null, 'x'.repeat(200)) },
    `(no output)\n\nexit code: 0\n\n[not known: the exit code of «${'x'.repeat(59)}…», behind &]`,
  ],
  [
    'a runner that ran no test',
    { evidence: tested([counts('vitest', 0, 0, 3)]) },
    '(no output)\n\nexit code: 0\n\n[tests: none ran]',
  ],
  [
    'a runner that ran no test, beside one that did',
    { evidence: tested([counts('vitest', 4, 0, 0), counts('pytest', 0, 0, 0)]) },
    '(no output)\n\nexit code: 0\n\n[tests: none ran by pytest]',
  ],
  [
    'runners that may have run tests',
    { evidence: tested([counts('go-test', null, 0, null), { ...counts('jest', 0, 0, 0), complete: false }]) },
    '(no output)\n\nexit code: 0',
  ],
  [
    'tests that ended differently than before',
    { evidence: tested([counts('vitest', 42, 3, 1)], { same: ['a', 'b'], appeared: ['c'], fixed: ['d'] }) },
    '(no output)\n\nexit code: 0\n\n[tests: 3 failed, 42 passed, 1 skipped; 2 as before, 1 new, 1 fixed]',
  ],
  [
    'tests that do not fail any more, of two checks and a runner that does not print all',
    {
      evidence: tested(
        [counts('vitest', 42, 0, 0), counts('go-test', null, 0, null)],
        { same: [], appeared: [], fixed: ['d'] },
        null,
        { same: [], appeared: [], fixed: ['e'] },
      ),
    },
    '(no output)\n\nexit code: 0\n\n[tests: 2 fixed]',
  ],
  [
    'tests that passed before, too, or were not compared',
    { evidence: tested([counts('vitest', 42, 0, 0)], { same: [], appeared: [], fixed: [] }, null) },
    '(no output)\n\nexit code: 0',
  ],
  [
    'a signal',
    { status: 'signaled', signal: 'SIGSEGV', exitCode: 139 },
    '[command killed: SIGSEGV]\n\n(no output)\n\nexit code: 139',
  ],
  [
    'a signal without a name',
    { status: 'signaled', signal: null, exitCode: 162 },
    '[command killed: exit code 162]\n\n(no output)',
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
    'started in the background',
    BACKGROUND,
    '<pid>12345</pid>\n\n<output_file>/logs/t0123456789ab.log</output_file>\n\n<reminder>To stop: kill -9 -12346</reminder>',
  ],
  [
    'started in the background, confined: commands see another number',
    { ...BACKGROUND, confinement: CONFINED },
    '<pid>12345</pid>\n\n<output_file>/logs/t0123456789ab.log</output_file>\n\n<reminder>To stop: kill_pid 12345</reminder>',
  ],
  [
    'moved to the background',
    { ...MOVED, stdout: 'a\n', stderr: 'b\n' },
    '[Command backgrounded after 120s timeout (pid 12345). Partial output:\n\nstdout:\na\n\nstderr:\nb\n\nFull output: /logs/t0123456789ab.log\n\nUse check_pid or kill_pid to manage.]',
  ],
  [
    'moved to the background without output, with a note',
    { ...MOVED, timeoutMs: 1_500, notes: ['one fact'] },
    '[Command backgrounded after 1.5s timeout (pid 12345). Partial output:\n\n(no output)\n\nFull output: /logs/t0123456789ab.log\n\nUse check_pid or kill_pid to manage.]\n\n[one fact]',
  ],
  [
    'notes',
    { stdout: 'a\n', exitCode: 1, notes: ['one fact', 'another'] },
    '[command failed: exit code 1]\n\nstdout:\na\n\n[one fact]\n[another]',
  ],
];

describe('formatResult', () => {
  it.each(TEXTS)('%s', (_why, part, text) => {
    expect(formatResult({ ...RESULT, ...part } as BashResult)).toBe(text);
  });

  it.each([
    { exitCode: 4 },
    { exitCode: 4, view: view('a\n[x3]\n') },
    { status: 'signaled', signal: null, exitCode: 162 },
    { status: 'timed-out', timeoutMs: 30_000, exitCode: 124 },
    { status: 'aborted', exitCode: 130 },
  ])('the exit code of a failure is said once: %j', (part) => {
    const text = formatResult({ ...RESULT, ...part } as BashResult);
    expect(text.match(/exit code:? \d+/g)).toHaveLength(1);
  });
});

describe('formatCheck', () => {
  const check = (task: Partial<BackgroundTask>, part: Partial<BackgroundCheck> = {}) =>
    formatCheck({
      ...CHECK,
      task: { ...TASK, ...task },
      ...part,
    });
  const nothing = 'No new output since last check.\n\nFull output: /logs/t0123456789ab.log]';

  it.each([
    ['still running', {}],
    ['exited with code 0', { state: 'exited', exitCode: 0 }],
    ['exited with code 3', { state: 'exited', exitCode: 3 }],
    ['was killed: SIGTERM', { state: 'killed', exitCode: 143, signal: 'SIGTERM' }],
    ['was lost', { state: 'lost' }],
  ] as const)('%s', (words, task) => {
    expect(check(task)).toBe(`[Process 12345 ${words}.\n\n${nothing}`);
  });

  it.each([
    ['a\n', 1, '(1 lines):\na'],
    ['a\n\n', 2, '(2 lines):\na\n'],
    ['a\nb', 2, '(2 lines):\na\nb'],
  ])('new output %j', (output, newLines, text) => {
    expect(check({}, { output, newLines })).toBe(
      `[Process 12345 still running.\n\nNew output since last check ${text}\n\nFull output: /logs/t0123456789ab.log]`,
    );
  });
});

describe('formatCheck of a task that has ended', () => {
  it('has the failures that its exit code hides, behind the path of the log', () => {
    const check = { ...CHECK, task: { ...TASK, state: 'exited', exitCode: 0 }, output: 'a\n', newLines: 1 } as const;
    expect(formatCheck({ ...check, evidence: hiding(['npm test', 1, 'pipe', 'tail -5']) })).toBe(
      '[Process 12345 exited with code 0.\n\nNew output since last check (1 lines):\na\n\nFull output: /logs/t0123456789ab.log]\n\n[hidden failure: «npm test» exit code 1, behind | tail -5]',
    );
    expect(formatCheck({ ...check, evidence: tested([counts('jest', 0, 0, 0)]) })).toContain('\n\n[tests: none ran]');
    expect(formatCheck({ ...check, evidence: null })).not.toContain('hidden');
  });
});

describe('formatCheck of a confined task', () => {
  const denied: Confinement['denied'] = [
    { kind: 'write', target: '/etc/hosts', program: 'tee', count: 2, grant: { write: ['/etc'] } },
  ];
  const confinement: Confinement = {
    profile: 'workspace',
    held: ['files'],
    missing: [],
    denied,
    way: 'namespaces',
    write: [],
    deniedTotal: 2,
    tmp: null,
    secrets: [],
  };
  const check = { ...CHECK, task: TASK, output: 'a\n', newLines: 1, cursor: 2, confinement };

  it('has the line about denials behind the path of the log', () => {
    expect(formatCheck(check)).toContain(
      'Full output: /logs/t0123456789ab.log]\n\n[confined: write /etc/hosts denied (tee), 2 times]\n[The confinement of this',
    );
    expect(formatCheck({ ...check, confinement: { ...confinement, denied: [], deniedTotal: 0 } })).not.toContain(
      'confine',
    );
  });

  it('says what to ask for where the host answers', () => {
    const read = (options: BashToolOptions) => createBashTool(options).toModelOutput({ output: check }).value;
    expect(read({ onAccess: () => true })).toContain('with access {"write":["/etc"]} and a reason');
    expect(read({})).toContain('The host grants nothing more');
  });
});

describe('toModelOutput', () => {
  const model = (output: BashToolOutput, errorOnFailure = false, reduce: BashToolOptions['reduce'] = 'off') =>
    createBashTool({ errorOnFailure, reduce }).toModelOutput({ toolCallId: '1', input: {}, output });

  it.each(TEXTS)('%s is an ordinary text', (_why, part, text) => {
    expect(model({ ...RESULT, ...part } as BashResult)).toEqual({ type: 'text', value: text });
  });

  it.each(TEXTS)('%s with errorOnFailure', (_why, part, text) => {
    const failed = part.exitCode != null && part.exitCode !== 0;
    expect(model({ ...RESULT, ...part } as BashResult, true)).toEqual({
      type: failed ? 'error-text' : 'text',
      value: text,
    });
  });

  it.each(['lossless', 'salient'] as const)(
    '%s: stdout alone has no label, and an exit code of 0 is not named',
    (reduce) => {
      for (const [why, part, text] of TEXTS) {
        const { background, stdout, stderr, view } = { ...RESULT, ...part };
        const isAlone = !background && !view && stdout !== '' && stderr === '';
        const named = background ? text : text.replace('\n\nexit code: 0', '');
        const { value } = model({ ...RESULT, ...part } as BashResult, false, reduce);
        expect(value, why).toBe(isAlone ? named.replace('stdout:\n', '') : named);
      }
      expect(model({ ...RESULT, stdout: 'hi\n' }, false, reduce).value).toBe('hi');
    },
  );

  it('an error is its message', () => {
    const output = { error: 'Working directory does not exist: /x', code: 'ERR_BASH_CWD_NOT_FOUND' };
    expect(model(output)).toEqual({ type: 'error-text', value: 'Working directory does not exist: /x' });
  });

  it('a check is an ordinary text, also of a process that failed', () => {
    const task: BackgroundTask = { ...TASK, state: 'exited', exitCode: 3 };
    const output = { ...CHECK, task, output: 'a\n', newLines: 1, cursor: 2 };
    expect(model(output, true)).toEqual({ type: 'text', value: formatCheck(output) });
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
