import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { type BackgroundTask, bash } from 'agent-bash';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  closings,
  ended,
  heard,
  logOf,
  quiet,
  registry,
  SOON,
  said,
  shimOf,
  stateFile,
  tasksFolder,
  tasksHost,
} from '../../../background/support.ts';
import {
  alive,
  daemon,
  daemons,
  fixture,
  folder,
  HANG,
  hasProgram,
  kill,
  linuxTest,
  mark,
  promptly,
  settles,
  sleepers,
  testNeeding,
  timed,
  until,
} from '../../../support/index.ts';

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });

describe('Linux: kill takes the whole tree', () => {
  linuxTest.each(daemons)('%s', async (_, text) => {
    const tasks = registry();
    const [seconds, hold] = [mark(), mark()];
    const task = await tasks.start(`${daemon(text, seconds)}\nsleep ${hold}`, { graceMs: 300 });
    await until(() => sleepers(seconds).length === 1 && sleepers(hold).length === 1);
    const check = await settles(tasks.kill(task.id));
    expect(check.task).toMatchObject({ state: 'killed', endedAt: expect.any(Number) });
    expect([...sleepers(seconds), ...sleepers(hold)]).toEqual([]);
    expect(closings(logOf(task))).toHaveLength(1);
  });

  linuxTest('all of them at once, with `dir`', async () => {
    const tasks = registry({ dir: tasksFolder() });
    const marks = daemons.map(() => mark());
    const command = daemons.map(([, text], n) => daemon(text, marks[n] ?? '')).join('\n');
    const task = await tasks.start(`${command}\nsleep ${mark()}`, { graceMs: 300 });
    await until(() => marks.every((seconds) => sleepers(seconds).length === 1));
    await settles(tasks.kill(task.id));
    expect(marks.flatMap(sleepers)).toEqual([]);
  });

  testNeeding(
    'python3',
    hasProgram('python3'),
    'linux',
  )('a Python daemon: two forks, a session of its own, no environment, no descriptors', async () => {
    const tasks = registry();
    const seconds = mark();
    const task = await tasks.start(`python3 ${fixture('daemon.py')} ${seconds}; sleep ${mark()}`);
    await until(() => sleepers(seconds).length === 1);
    await settles(tasks.kill(task.id));
    expect(sleepers(seconds)).toEqual([]);
  });

  linuxTest('a tree that goes on growing', async () => {
    const tasks = registry();
    const seconds = mark();
    const task = await tasks.start(`trap '' TERM; while :; do setsid sleep ${seconds} & sleep .02; done`, {
      graceMs: 200,
    });
    await until(() => sleepers(seconds).length > 5);
    expect((await settles(tasks.kill(task.id))).task).toMatchObject({ state: 'killed', signal: 'SIGKILL' });
    expect(sleepers(seconds)).toEqual([]);
  });
});

describe('kill gives the time to clean up', () => {
  test('a dev server with grandchildren: its port is free again', async () => {
    const tasks = registry();
    const task = await tasks.start(`node ${fixture('server.mjs')}; echo end`);
    const { output } = await heard(tasks, task, /port \d+\n/);
    const port = Number(/port (\d+)/.exec(output)?.[1]);
    expect(await answers(port)).toBe(true);
    await settles(tasks.kill(task.id));
    expect(await answers(port)).toBe(false);
  });

  testNeeding('python3', hasProgram('python3'))('a Python job with `atexit`: its last words are there', async () => {
    const tasks = registry();
    const task = await tasks.start(`python3 ${fixture('job.py')}`);
    await heard(tasks, task, 'ready');
    const check = await settles(tasks.kill(task.id));
    expect(check.output).toContain('cleaned up\n');
    expect(check.task).toMatchObject({ state: 'killed', signal: 'SIGTERM', exitCode: 143 });
    expect(logOf(task)).toMatch(/^ready\ncleaned up\n(.*\n)*\[background process killed: SIGTERM\]\n$/);
  });

  test('bash with a handler', async () => {
    const tasks = registry();
    const task = await tasks.start(
      `${quiet}trap 'echo cleaned up; exit 0' TERM; echo ready; while :; do sleep .05; done`,
    );
    await heard(tasks, task, 'ready');
    const { output, task: last } = await settles(tasks.kill(task.id));
    expect(output).toBe('cleaned up\n');
    expect(last).toMatchObject({ state: 'killed', signal: 'SIGTERM', exitCode: 143 });
  });

  test('SIGKILL after the grace, which is 2 s', async () => {
    const tasks = registry();
    const task = await tasks.start(`${quiet}trap 'echo got it' TERM; echo ready; while :; do sleep .05; done`);
    await heard(tasks, task, 'ready');
    const [check, elapsed] = await timed(() => settles(tasks.kill(task.id)));
    expect(check.output).toBe('got it\n');
    expect(check.task).toMatchObject({ state: 'killed', signal: 'SIGKILL', exitCode: 137 });
    expect(elapsed).toBeGreaterThan(1_800);
    expect(elapsed).toBeLessThan(2_000 + HANG);
  });

  test('`graceMs` of the start', async () => {
    const tasks = registry();
    const command = "trap '' TERM; echo ready; while :; do sleep .05; done";
    const started = await Promise.all([1, 2, 3].map(() => tasks.start(command, { graceMs: 0 })));
    for (const task of started) await heard(tasks, task, 'ready');
    const check = await promptly(() => settles(tasks.kill(started.pop()?.id ?? '')));
    expect(check.task).toMatchObject({ state: 'killed', signal: 'SIGKILL' });
  });

  test('a stopped one is ended as well', async () => {
    const tasks = registry();
    const task = await tasks.start('echo ready; kill -STOP $$; sleep 60', { graceMs: 500 });
    await heard(tasks, task, 'ready');
    expect((await settles(tasks.kill(task.id))).task.state).toBe('killed');
    expect(alive(task.pid)).toBe(false);
  });
});

describe('kill gives the final output', () => {
  test('all that is unread, cut as a check is', async () => {
    const tasks = registry();
    const task = await tasks.start(`seq 5000; sleep ${mark()}`);
    await until(() => logOf(task).endsWith('\n5000\n'));
    const check = await settles(tasks.kill(task.id));
    expect(check).toMatchObject({ newLines: 5000, truncation: { totalLines: 5000 }, task: { state: 'killed' } });
    expect(check.output).toContain('[output: Showing last 2000 of 5000 lines. Full output: ');
  });

  test('by pid too; a task that has ended stays as it ended', async () => {
    const tasks = registry();
    const task = await tasks.start('echo hi; exit 3');
    await ended(tasks, task);
    const log = logOf(task);
    for (let n = 0; n < 3; n++) {
      expect((await settles(tasks.kill(n ? task.pid : task.id))).task).toMatchObject({ state: 'exited', exitCode: 3 });
    }
    expect(logOf(task)).toBe(log);
  });

  test('two kills at once, and a wait', async () => {
    const tasks = registry();
    const task = await tasks.start(`sleep ${mark()}`);
    const all = [tasks.wait(task.id), tasks.kill(task.id), tasks.kill(task.pid)];
    for (const check of await settles(Promise.all(all))) {
      expect(check.task).toMatchObject({ state: 'killed', signal: 'SIGTERM', exitCode: 143 });
    }
    expect(closings(logOf(task))).toEqual(['[background process killed: SIGTERM]']);
  });

  test('a kill right after the start', async () => {
    const tasks = registry();
    for (let round = 0; round < 20; round++) {
      const task = await tasks.start(`sleep ${mark()}`);
      expect((await settles(tasks.kill(task.id))).task.state).toBe('killed');
      expect(alive(task.pid)).toBe(false);
    }
  });

  test('a kill while the task ends by itself: one of both, and the log says the same', async () => {
    const tasks = registry();
    for (let round = 0; round < 20; round++) {
      const task = await tasks.start('exit 5');
      const { task: last } = await settles(tasks.kill(task.id));
      expect(['exited', 'killed']).toContain(last.state);
      const line = last.state === 'exited' ? 'failed: exit code 5' : `killed: ${last.signal}`;
      expect(closings(logOf(task))).toEqual([`[background process ${line}]`]);
    }
  });
});

describe('killAll', () => {
  test('ends every running task and gives the last of each', async () => {
    const tasks = registry();
    const seconds = mark();
    const done = await tasks.start('exit 1');
    await ended(tasks, done);
    const running = await Promise.all(
      [1, 2, 3].map((n) => tasks.start(`${quiet}echo ${n}; setsid sleep ${seconds} & wait`)),
    );
    await until(() => sleepers(seconds).length === 3 && running.every((task) => logOf(task) !== ''));
    const checks = await settles(tasks.killAll(), SOON);
    const of = (id: string) => checks.find(({ task }) => task.id === id);
    expect(running.map(({ id }) => of(id)?.output)).toEqual(['1\n', '2\n', '3\n']);
    expect(checks.map(({ task }) => task.state)).toEqual(['killed', 'killed', 'killed']);
    expect(sleepers(seconds)).toEqual([]);
    expect(
      tasks
        .list()
        .map(({ state }) => state)
        .sort(),
    ).toEqual(['exited', 'killed', 'killed', 'killed']);
  });

  test('of nothing', async () => {
    expect(await settles(registry().killAll())).toEqual([]);
  });

  test('counts a task as ended that was swept after it was listed', async () => {
    const dir = tasksFolder();
    const tasks = registry({ dir });
    const task = await tasks.start('sleep 60');
    await settles(tasks.kill(task.id));
    await until(async () => {
      await registry({ dir, retentionMs: 1 }).close();
      return tasks.list().length === 0;
    });
    vi.spyOn(tasks, 'list').mockReturnValueOnce([task]);
    expect(await settles(tasks.killAll())).toEqual([]);
  });
});

test("the host's other commands and tasks go on", async () => {
  const tasks = registry();
  const others = registry();
  const seconds = mark();
  const cwd = folder();
  const command = bash('until [ -e go ]; do sleep .02; done; echo on', { cwd });
  const one = await tasks.start(`sleep ${seconds}`);
  const two = await tasks.start(`sleep ${seconds}`);
  const three = await others.start(`sleep ${seconds}`);
  await until(() => sleepers(seconds).length === 3);
  await settles(tasks.kill(one.id));
  expect((await tasks.check(two.id)).task.state).toBe('running');
  await settles(tasks.killAll());
  expect((await others.check(three.id)).task.state).toBe('running');
  writeFileSync(`${cwd}/go`, '');
  expect(await settles(command)).toMatchObject({ status: 'exited', stdout: 'on\n' });
});

describe('identity is checked: a reused pid is not signalled', () => {
  /** A process of our own that reports any signal. */
  async function bystander(): Promise<ChildProcess & { pid: number }> {
    const child = spawn('sleep', ['300'], { stdio: 'ignore', detached: true });
    await once(child, 'spawn');
    onTestFinished(() => void child.kill('SIGKILL'));
    return child as ChildProcess & { pid: number };
  }

  // As if the system had given the number to another process since.
  function givePidTo(pid: number, path: string, old: number): void {
    const text = readFileSync(path, 'utf8');
    const changed = text.replaceAll(new RegExp(`\\b${old}\\b`, 'g'), `${pid}`);
    expect(changed).not.toBe(text);
    writeFileSync(path, changed);
  }

  test('of a task that has ended', async () => {
    const dir = tasksFolder();
    const first = registry({ dir });
    const task = await first.start('exit 3');
    await ended(first, task);
    await first.close();
    const other = await bystander();
    givePidTo(other.pid, stateFile(task), task.pid);
    const tasks = registry({ dir });
    expect((await settles(tasks.kill(task.id))).task).toMatchObject({ state: 'exited', exitCode: 3 });
    expect((await settles(tasks.kill(other.pid))).task).toMatchObject({ id: task.id, state: 'exited' });
    await settles(tasks.killAll());
    expect([alive(other.pid), other.signalCode]).toEqual([true, null]);
  });

  linuxTest('Linux: of a task whose shim was killed', async () => {
    const dir = tasksFolder();
    const one = tasksHost({ dir }, `say(await registry.start('sleep ${mark()}')); setInterval(() => {}, 1000);`);
    const task = await said<BackgroundTask>(one);
    const shim = shimOf(task);
    one.process.kill('SIGKILL');
    await one.ended();
    kill(shim, 'SIGKILL');
    kill(task.pid, 'SIGKILL');
    await until(() => !alive(shim) && !alive(task.pid));
    const other = await bystander();
    givePidTo(other.pid, stateFile(task), task.pid);
    const tasks = registry({ dir });
    expect((await settles(tasks.kill(task.id))).task.state).toBe('lost');
    await settles(tasks.killAll());
    expect([alive(other.pid), other.signalCode]).toEqual([true, null]);
  });

  // Needs a kernel that lets us choose the next pid.
  const choose = '/proc/sys/kernel/ns_last_pid';
  const canChoose = (() => {
    try {
      writeFileSync(choose, readFileSync(choose));
      return true;
    } catch {
      return false;
    }
  })();
  test.runIf(canChoose)('Linux, where numbers can be chosen: with a true reuse of the pid', async () => {
    const tasks = registry();
    // Another process of the machine may have taken the number of one task, and hardly those of eight.
    const started = await Promise.all([...Array(8)].map(() => tasks.start('exit 3')));
    for (const task of started) await ended(tasks, task);
    const seconds = mark();
    const pids = started.map(({ pid }) => pid).join(' ');
    const take = `for p in ${pids}; do for i in {1..100}; do
      echo $((p - 1)) > ${choose}; sleep ${seconds} & [ $! = $p ] && break 2; kill $!; done; done; echo $!`;
    const { stdout } = await bash(`{ ${take}; } 2>/dev/null`, { confine: 'off' });
    const task = started.find(({ pid }) => pid === Number(stdout));
    if (!task) throw new Error('none of the numbers was free');
    expect(sleepers(seconds)).toContain(task.pid);
    expect((await settles(tasks.kill(task.id))).task).toMatchObject({ state: 'exited', exitCode: 3 });
    expect((await settles(tasks.kill(task.pid))).task).toMatchObject({ state: 'exited', exitCode: 3 });
    expect(sleepers(seconds)).toContain(task.pid);
  });
});
