import { BashSession, bash, PtySession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { ended, logOf, movedOf, registry, said, tasksFolder, tasksHost } from '../../../background/support.ts';
import { mark, rejection, settles, sleepers } from '../../../support/index.ts';

/** The note on a command that wrote nothing for so many seconds. */
const note = (seconds: number) =>
  `silence: the command wrote nothing for ${seconds} s (idleTimeoutMs), which counts as its time limit`;

/** Shell text that writes `text` for longer than the limit of silence below, with pauses that are much shorter. */
const goesOn = (text: string) => `for i in {1..20}; do ${text}; sleep .15; done; echo end`;
const LONGER = 2_000;

// These tests wait nearly all of their time.
describe.concurrent('a silent command', () => {
  test('is at its limit, with the output so far', async () => {
    const seconds = mark();
    const result = await settles(bash(`echo start; sleep ${seconds}`, { idleTimeoutMs: 1_500 }));
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, signal: 'SIGTERM', stdout: 'start\n' });
    expect(result).toMatchObject({ timeoutMs: 1_500, notes: [note(1.5)] });
    expect(result.durationMs).toBeGreaterThanOrEqual(1_500);
    expect(sleepers(seconds)).toEqual([]);
  });

  test('counts from its start, and without pipes as well', async () => {
    const all = await Promise.all(
      ['sleep 60', 'exec >&- 2>&-; sleep 60', 'exec >/dev/null 2>&1; yes'].map((command) =>
        settles(bash(command, { idleTimeoutMs: 300 })),
      ),
    );
    expect(all.map(({ exitCode, notes }) => [exitCode, notes])).toEqual(Array(3).fill([124, [note(0.3)]]));
  });

  test('has the time of its grace for last words', async () => {
    const result = await settles(
      bash("trap 'echo bye; exit 0' TERM; while :; do sleep .02; done", { idleTimeoutMs: 1_500 }),
    );
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, signal: null, stdout: 'bye\n' });
  });

  test('says nothing of silence if its time was up first', async () => {
    const result = await settles(bash('sleep 60', { timeoutMs: 300, idleTimeoutMs: 60_000 }));
    expect(result).toMatchObject({ status: 'timed-out', timeoutMs: 300, notes: [] });
  });

  test('is at its limit in a session, which goes on', async () => {
    const session = new BashSession({ idleTimeoutMs: 1_500 });
    expect(await settles(session.run('x=1; sleep 60'))).toMatchObject({ exitCode: 124, notes: [note(1.5)] });
    expect(await session.run('echo on')).toMatchObject({ exitCode: 0, stdout: 'on\n' });
    await session.close();
  });
});

describe.concurrent('a command is not silent', () => {
  test.each([
    ['while it writes lines', 'echo .', {}],
    ['while it writes to standard error alone', 'echo . >&2', {}],
    ['while it writes to one pipe', 'echo . >&2', { merge: true }],
    ['while it overwrites a line', String.raw`printf '%d%%\r' $i`, {}],
    ['while it writes what is removed', String.raw`printf '\e[0m'`, {}],
  ])('%s', async (_, text, options) => {
    const result = await settles(bash(goesOn(text), { idleTimeoutMs: LONGER, ...options }));
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, notes: [], timeoutMs: 30_000 });
    expect(result.durationMs).toBeGreaterThan(LONGER);
  });

  test('while a listener holds its output back', async () => {
    const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 700));
    const result = await settles(bash('seq 100000; echo end', { idleTimeoutMs: 500, onOutput: slow }));
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, notes: [] });
  });

  test('in a terminal, however long a person thinks', async () => {
    const terminal = new PtySession({ idleTimeoutMs: 200 });
    await terminal.start('sleep 1; echo end');
    expect(await settles(terminal.result())).toMatchObject({ status: 'exited', stdout: 'end\n', notes: [] });
  });
});

describe.concurrent('in the background', () => {
  test('a silent command moves there, and may then be silent', async () => {
    const tasks = registry();
    const result = await settles(bash('echo start; sleep 4; echo end', { registry: tasks, idleTimeoutMs: 1_500 }));
    const task = movedOf(result);
    expect(result).toMatchObject({ timeoutMs: 1_500, notes: [note(1.5)], stdout: 'start\n' });
    expect(await ended(tasks, task)).toMatchObject({ state: 'exited', exitCode: 0 });
    expect(logOf(task)).toBe('start\nend\n[background process completed]\n');
  });

  test('a task that is silent is ended', async () => {
    const tasks = registry();
    const seconds = mark();
    const task = await tasks.start(`echo start; sleep ${seconds}`, { idleTimeoutMs: 500 });
    expect(await ended(tasks, task)).toMatchObject({ state: 'killed', exitCode: 124, signal: 'SIGTERM' });
    expect(logOf(task)).toBe(`start\n[${note(0.5)}]\n[background process killed: SIGTERM]\n`);
    expect(tasks.notes).toEqual([`task ${task.id}: ${note(0.5)}`]);
    expect(sleepers(seconds)).toEqual([]);
  });

  test('a task that writes is not', async () => {
    const tasks = registry();
    const task = await tasks.start(goesOn(String.raw`printf '\r'`), { idleTimeoutMs: LONGER });
    expect(await ended(tasks, task)).toMatchObject({ state: 'exited', exitCode: 0 });
  });

  test('a task that is silent is ended after its host is gone', async () => {
    const dir = tasksFolder();
    const one = tasksHost(
      { dir },
      `say(await registry.start('echo start; sleep ${mark()}', { idleTimeoutMs: 2_000 }));`,
    );
    const task = await said<{ id: string; logPath: string }>(one);
    await one.ended();
    expect(await ended(registry({ dir }), task)).toMatchObject({ state: 'killed', exitCode: 124 });
    expect(logOf(task)).toContain(`\n[${note(2)}]\n`);
  });
});

test.each([0, -1, 1.5, 86_400_001, Number.NaN])('%d ms is refused', async (idleTimeoutMs) => {
  const { code, message } = await rejection(() => bash('true', { idleTimeoutMs }));
  expect(code).toBe('ERR_BASH_INVALID_ARG');
  expect(message).toContain('idleTimeoutMs');
});
