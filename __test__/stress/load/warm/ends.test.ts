import { BackgroundRegistry, bash, warmShells } from 'agent-bash';
import { describe, expect, onTestFinished } from 'vitest';
import {
  alive,
  HANG,
  kill,
  linuxTest,
  mark,
  settles,
  shimsOf,
  sleepers,
  supervisorOf,
  timed,
  until,
} from '../../../support/index.ts';
import { runsWarm, warmed } from '../../../warm/support.ts';

const on = () => expect(runsWarm('echo on')).resolves.toMatchObject({ exitCode: 0, stdout: 'on\n', notes: [] });

describe('exits of a command in a warm shell', () => {
  linuxTest('Linux: a limit', async () => {
    const seconds = mark();
    const result = await runsWarm(`echo BEFORE; setsid sleep ${seconds} & sleep ${seconds}`, {
      timeoutMs: 2_000,
      graceMs: 200,
    });
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, stdout: 'BEFORE\n', survivors: [] });
    await until(() => sleepers(seconds).length === 0);
    await on();
  });

  linuxTest('Linux: a limit, and TERM is ignored', async () => {
    const result = await runsWarm("trap '' TERM; while :; do :; done", { timeoutMs: 1_500, graceMs: 200 });
    // A result waits for 1 s after SIGKILL at most. On a busy machine the end of the shell may not be known by then.
    const signal = expect.toBeOneOf(['SIGKILL', null]);
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, signal });
    await on();
  });

  linuxTest('Linux: `kill -STOP $$`', async () => {
    expect(await runsWarm('kill -STOP $$', { timeoutMs: 300, graceMs: 200 })).toMatchObject({
      status: 'timed-out',
      exitCode: 124,
    });
    await on();
  });

  linuxTest('Linux: an abort', async () => {
    const controller = new AbortController();
    const seconds = mark();
    await warmed();
    const running = bash(`sleep ${seconds}; :`, { signal: controller.signal });
    await until(() => sleepers(seconds).length === 1);
    controller.abort();
    expect(await settles(running)).toMatchObject({ status: 'aborted', exitCode: 130 });
    await until(() => sleepers(seconds).length === 0);
    await on();
  });

  linuxTest('Linux: an abort in the same turn, and before', async () => {
    for (let n = 0; n < 30; n++) {
      await warmed();
      const controller = new AbortController();
      if (n % 3 === 0) controller.abort();
      const running = bash('sleep 30; echo ran', { signal: controller.signal });
      if (n % 3 === 1) queueMicrotask(() => controller.abort());
      else controller.abort();
      expect(await settles(running)).toMatchObject({ status: 'aborted', exitCode: 130, stdout: '' });
    }
    await on();
  });

  linuxTest.each([
    ['kill -9 $$', 137, 'SIGKILL'],
    ['kill $$', 143, 'SIGTERM'],
    ['kill -SEGV $$', 139, 'SIGSEGV'],
    ['kill -INT $$', 130, 'SIGINT'],
    ['kill -PIPE $$', 141, 'SIGPIPE'],
  ])('Linux: `%s`', async (command, exitCode, signal) => {
    const cold = await bash(`echo x; ${command}; echo y`, { warm: false });
    const warm = await runsWarm(`echo x; ${command}; echo y`);
    expect(warm).toMatchObject({ status: 'signaled', exitCode, signal, stdout: 'x\n' });
    expect(warm).toMatchObject({ status: cold.status, exitCode: cold.exitCode, stderr: cold.stderr });
    await on();
  });

  linuxTest.each(
    ['kill -9 $PPID', 'kill $PPID', 'kill -STOP $PPID', 'kill -9 -1 2>/dev/null & kill -9 $PPID'].slice(0, 3),
  )('Linux: `%s`', async (command) => {
    const result = await settles(
      runsWarm(`echo before; ${command}; sleep .3; exit 4`, { timeoutMs: 4_000, graceMs: 300 }),
    );
    expect(result.stdout).toBe('before\n');
    expect(typeof result.exitCode).toBe('number');
    expect(alive(process.pid)).toBe(true);
    await on();
  });

  linuxTest('Linux: `kill 0` and the parent of the parent', async () => {
    await settles(runsWarm('kill 0; sleep 5'));
    await settles(runsWarm('read -r _ _ _ up _ </proc/$PPID/stat; kill -9 $up; sleep .2; exit 4'));
    await until(() => (warmShells() !== undefined && supervisorOf() !== undefined) || bash('true').then(() => false));
    await on();
  });

  linuxTest('Linux: its shim killed from without', async () => {
    const seconds = mark();
    await warmed();
    const running = bash(`echo before; sleep ${seconds}; :`);
    await until(() => sleepers(seconds).length === 1);
    for (const { pid } of shimsOf(supervisorOf()?.pid ?? 0)) kill(pid, 'SIGKILL');
    const result = await settles(running);
    expect(result).toMatchObject({ status: 'signaled', signal: 'SIGKILL', exitCode: 137, stdout: 'before\n' });
    expect(result.notes.length).toBe(1);
    await until(() => sleepers(seconds).length === 0);
    await on();
  });

  linuxTest('Linux: survivors are listed and live on', async () => {
    const seconds = mark();
    const [result, time] = await timed(() => runsWarm(`sleep ${seconds} & echo hi`));
    expect(result).toMatchObject({ status: 'exited', stdout: 'hi\n' });
    expect(result.survivors.map(({ command }) => command)).toEqual([`sleep ${seconds}`]);
    expect(time).toBeLessThan(HANG);
    expect(sleepers(seconds).length).toBe(1);
    await on();
    expect(sleepers(seconds).length).toBe(1);
  });

  linuxTest('Linux: large output, whole and in order, with a slow reader', async () => {
    const lines: string[] = [];
    const result = await runsWarm('seq 100000; seq 3 >&2', {
      onOutput: async ({ stream, text }) => {
        if (stream === 'stdout') lines.push(text);
        await new Promise((resolve) => setImmediate(resolve));
      },
    });
    expect(lines.join('').split('\n').length).toBe(100_001);
    expect(result.truncation.stdout?.totalLines).toBe(100_000);
    expect(result.stderr).toBe('1\n2\n3\n');
  });
});

describe('with a registry', () => {
  const registry = () => {
    const made = new BackgroundRegistry();
    onTestFinished(() => made.close());
    return made;
  };

  linuxTest('Linux: moved at its limit', async () => {
    const [tasks, seconds] = [registry(), mark()];
    const result = await runsWarm(`echo one; sleep 3; echo two; sleep ${seconds} || :; echo three`, {
      registry: tasks,
      timeoutMs: 1_500,
    });
    expect(result).toMatchObject({ status: 'backgrounded', exitCode: null, stdout: 'one\n' });
    const id = result.background?.id ?? '';
    const { output } = await tasks.wait(id, { pattern: 'two', timeoutMs: 10_000 });
    expect(output).toContain('two');
    await until(() => sleepers(seconds).length === 1);
    for (const pid of sleepers(seconds)) kill(pid, 'SIGTERM');
    const check = await tasks.wait(id, { timeoutMs: 10_000 });
    expect(check.task).toMatchObject({ state: 'exited', exitCode: 0 });
    expect(check.output).toContain('three');
    await on();
  });

  linuxTest('Linux: survivors are adopted', async () => {
    const tasks = registry();
    const result = await runsWarm('(sleep 1; echo later; exit 0) & echo now', { registry: tasks });
    expect(result.stdout).toBe('now\n');
    const id = result.survivors[0]?.taskId ?? '';
    const { output, task } = await tasks.wait(id, { timeoutMs: 10_000 });
    expect(output).toContain('later');
    expect(task.state).toBe('exited');
    await on();
  });

  linuxTest('Linux: mode background takes no shell that waits, and is right beside one', async () => {
    const tasks = registry();
    await warmed();
    const result = await bash('echo task; exit 5', { registry: tasks, mode: 'background' });
    expect(result.status).toBe('backgrounded');
    const { output, task } = await tasks.wait(result.background?.id ?? '', { timeoutMs: 10_000 });
    expect(output).toContain('task');
    expect(task).toMatchObject({ state: 'exited', exitCode: 5 });
    await on();
  });
});
