import { readFileSync, writeFileSync } from 'node:fs';
import { type BackgroundTask, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  body,
  closings,
  ended,
  heard,
  killedSleeper,
  logOf,
  registry,
  SOON,
  said,
  shimOf,
  stateFile,
  tasksFolder,
  tasksHost,
} from '../../../background/support.ts';
import {
  hasProgram,
  host,
  kill,
  linuxTest,
  mark,
  settles,
  sleepers,
  testNeeding,
  until,
} from '../../../support/index.ts';

describe('every end is reported faithfully, with one closing line', () => {
  const stubborn = "trap '' TERM; while :; do sleep .05; done";
  const polite = "trap 'exit 0' TERM; echo ready; while :; do sleep .05; done";
  test.each<[string, string, object, object, string]>([
    ['exit 0', 'true', {}, { state: 'exited', exitCode: 0, signal: null }, 'completed'],
    ['exit 1', 'exit 1', {}, { state: 'exited', exitCode: 1, signal: null }, 'failed: exit code 1'],
    ['exit 255', 'exit 255', {}, { state: 'exited', exitCode: 255, signal: null }, 'failed: exit code 255'],
    ['exit 143', 'exit 143', {}, { state: 'exited', exitCode: 143, signal: null }, 'failed: exit code 143'],
    ['exit 124', 'exit 124', {}, { state: 'exited', exitCode: 124, signal: null }, 'failed: exit code 124'],
    ['a missing program', 'no-such-program', {}, { state: 'exited', exitCode: 127 }, 'failed: exit code 127'],
    ['a syntax error', 'if', {}, { state: 'exited', exitCode: 2 }, 'failed: exit code 2'],
    ['a program in the place of the shell', 'exec bash -c "exit 9"', {}, { exitCode: 9 }, 'failed: exit code 9'],
    ['SIGSEGV', 'kill -SEGV $$', {}, { state: 'killed', exitCode: 139, signal: 'SIGSEGV' }, 'killed: SIGSEGV'],
    ['SIGKILL', 'kill -KILL $$', {}, { state: 'killed', exitCode: 137, signal: 'SIGKILL' }, 'killed: SIGKILL'],
    ['SIGTERM', 'kill $$', {}, { state: 'killed', exitCode: 143, signal: 'SIGTERM' }, 'killed: SIGTERM'],
    [
      'its limit',
      'sleep 60',
      { timeoutMs: 1_500 },
      { state: 'killed', exitCode: 124, signal: 'SIGTERM' },
      'killed: SIGTERM',
    ],
    [
      'its limit, though SIGTERM is ignored',
      stubborn,
      { timeoutMs: 1_500, graceMs: 200 },
      { state: 'killed', exitCode: 124, signal: 'SIGKILL' },
      'killed: SIGKILL',
    ],
    [
      'its limit, with a handler that exits 0',
      polite,
      { timeoutMs: 1_500 },
      { state: 'killed', exitCode: 124, signal: 'SIGTERM' },
      'killed: SIGTERM',
    ],
  ])('%s', async (_, command, options, end, line) => {
    const tasks = registry();
    const task = await tasks.start(command, options);
    const last = await ended(tasks, task);
    expect(last).toMatchObject(end);
    expect(last).toMatchObject({ id: task.id, pid: task.pid, startedAt: task.startedAt, logPath: task.logPath });
    expect(last.endedAt).toBeGreaterThanOrEqual(task.startedAt);
    expect(logOf(task).endsWith(`[background process ${line}]\n`)).toBe(true);
    expect(closings(logOf(task))).toHaveLength(1);
    expect(tasks.list()).toEqual([last]);
  });

  test('`kill`, with a handler that exits 0', async () => {
    const tasks = registry();
    const task = await tasks.start(polite);
    await heard(tasks, task, 'ready');
    await settles(tasks.kill(task.id));
    expect(tasks.list()).toMatchObject([{ state: 'killed', exitCode: 143, signal: 'SIGTERM' }]);
    expect(closings(logOf(task))).toEqual(['[background process killed: SIGTERM]']);
  });

  test('a signal of another process', async () => {
    const tasks = registry();
    for (const [signal, exitCode] of [
      ['SIGTERM', 143],
      ['SIGKILL', 137],
      ['SIGINT', 130],
      ['SIGHUP', 129],
      ['SIGUSR1', 138],
    ] as const) {
      const task = await tasks.start(`echo ready; exec sleep ${mark()}`);
      await heard(tasks, task, 'ready');
      kill(task.pid, signal);
      expect(await ended(tasks, task)).toMatchObject({ state: 'killed', signal, exitCode });
      expect(closings(logOf(task))).toEqual([`[background process killed: ${signal}]`]);
    }
  });

  test('its limit: the tree goes', async () => {
    const tasks = registry();
    const seconds = mark();
    const task = await tasks.start(`setsid sleep ${seconds} & sleep ${seconds}`, { timeoutMs: 1_500 });
    expect(await ended(tasks, task)).toMatchObject({ state: 'killed', exitCode: 124 });
    expect(sleepers(seconds)).toEqual([]);
  });

  test('the last output of a task that is killed is in front of its closing line', async () => {
    const tasks = registry();
    const task = await tasks.start('seq 100000; kill -9 $$');
    await ended(tasks, task);
    expect(logOf(task).endsWith('\n99999\n100000\n[background process killed: SIGKILL]\n')).toBe(true);
  });

  test('a task outlives none of its own: 100 short ones, each with its own end', async () => {
    const tasks = registry({ maxTasks: 200 });
    const started = await Promise.all(Array.from({ length: 100 }, (_, n) => tasks.start(`echo ${n}; exit ${n}`)));
    for (const [n, task] of started.entries()) {
      expect(await ended(tasks, task)).toMatchObject({ state: 'exited', exitCode: n });
      const line = n ? `failed: exit code ${n}` : 'completed';
      expect(logOf(task)).toBe(`${n}\n[background process ${line}]\n`);
    }
  });
});

describe('Linux: lost', () => {
  linuxTest.each([
    ['without `dir`', false],
    ['with `dir`', true],
  ])('the shim was killed, %s: no code, no signal, what was said, and nothing of it left', async (_, kept) => {
    const tasks = registry(kept ? { dir: tasksFolder() } : {});
    const seconds = mark();
    const task = await tasks.start(`echo before; setsid sleep ${seconds} & sleep ${seconds}`);
    await heard(tasks, task, 'before');
    await until(() => sleepers(seconds).length === 2);
    kill(shimOf(task), 'SIGKILL');
    expect(await ended(tasks, task)).toMatchObject({ state: 'lost', exitCode: null, signal: null });
    expect(logOf(task)).toBe('before\n[background process lost: its helper process was killed]\n');
    await until(() => sleepers(seconds).length === 0);
    expect((await settles(tasks.kill(task.id))).task.state).toBe('lost');
    expect((await settles(bash('echo later'))).stdout).toBe('later\n');
  });

  linuxTest('a command that kills its own shim', async () => {
    const tasks = registry();
    const task = await tasks.start(`echo before; sleep .2; kill -9 $PPID; sleep ${mark()}`);
    expect(await ended(tasks, task)).toMatchObject({ state: 'lost', exitCode: null, signal: null });
    expect(body(logOf(task))).toBe('before\n');
  });

  linuxTest('the machine was restarted', async () => {
    const dir = tasksFolder();
    const task = await killedSleeper(dir);
    // As if the files were from before a restart: the kernel names each of its boots.
    const path = stateFile(task);
    const start = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const text = readFileSync(path, 'utf8');
    expect(text).toContain(start);
    writeFileSync(path, text.replaceAll(start, '00000000-0000-4000-8000-000000000000'));
    const again = registry({ dir });
    expect(again.list()).toMatchObject([{ id: task.id, state: 'lost', exitCode: null, signal: null }]);
    expect(await ended(again, task)).toMatchObject({ state: 'lost' });
    expect(logOf(task)).toBe('before\n[background process lost: the machine was restarted]\n');
  });
});

describe('the closing line is written once, by whichever process is left', () => {
  const races = `
    const id = process.env.TASK;
    const all = await Promise.all(Array.from({ length: 5 }, () => {
      const one = new BackgroundRegistry({ dir: process.env.DIR });
      return one.wait(id).then((check) => [check.task.state, one.list().length]);
    }));
    say(all);`;

  linuxTest('Linux: host, shim and shell all killed: fifteen registries of three processes find it', async () => {
    for (let round = 0; round < 3; round++) {
      const dir = tasksFolder();
      const task = await killedSleeper(dir);
      const others = [1, 2, 3].map(() => tasksHost({ dir }, races, { env: { TASK: task.id, DIR: dir } }));
      for (const other of others) {
        expect(await said(other)).toEqual(Array(5).fill(['lost', 1]));
      }
      expect(logOf(task)).toBe('before\n[background process lost: its helper process was killed]\n');
    }
  });

  test('a task ends while many wait for it', async () => {
    const dir = tasksFolder();
    const task = await registry({ dir }).start('sleep 1.5; echo end; exit 5');
    const others = [1, 2].map(() => tasksHost({ dir }, races, { env: { TASK: task.id, DIR: dir } }));
    const mine = Array.from({ length: 8 }, () => ended(registry({ dir }), task));
    for (const last of await Promise.all(mine)) expect(last).toMatchObject({ state: 'exited', exitCode: 5 });
    for (const other of others) expect(await said(other)).toEqual(Array(5).fill(['exited', 1]));
    expect(logOf(task)).toBe('end\n[background process failed: exit code 5]\n');
  });

  test('many kill it at once, from several processes', async () => {
    const dir = tasksFolder();
    const task = await registry({ dir }).start(`echo up; sleep ${mark()}`);
    const source = `const all = await Promise.all([1, 2, 3].map(() => new BackgroundRegistry({ dir: process.env.DIR }).kill(process.env.TASK)));
      say(all.map((check) => check.task));`;
    const others = [1, 2].map(() => tasksHost({ dir }, source, { env: { TASK: task.id, DIR: dir } }));
    for (const other of others) {
      for (const last of await said<BackgroundTask[]>(other))
        expect(last).toMatchObject({ state: 'killed', signal: 'SIGTERM' });
    }
    expect(logOf(task)).toBe('up\n[background process killed: SIGTERM]\n');
  });
});

testNeeding('python3', hasProgram('python3'))(
  'output that is still in the pipe when the shell ends is not lost',
  async () => {
    const tasks = registry();
    for (let round = 0; round < 10; round++) {
      const task = await tasks.start("python3 -c \"print('x' * 40000); print('end')\"; exit 3");
      const check = await settles(tasks.wait(task.id), SOON);
      expect(check.output.endsWith('x\nend\n')).toBe(true);
      expect(check.task.exitCode).toBe(3);
    }
  },
);

test('a task that ends while its host is away is reported right afterwards', async () => {
  const dir = tasksFolder();
  const one = host(
    `import { BackgroundRegistry } from 'agent-bash';
     const registry = new BackgroundRegistry({ dir: ${JSON.stringify(dir)} });
     console.log(JSON.stringify(await registry.start('sleep .5; echo late; exit 42')));`,
  );
  expect((await one.ended()).code).toBe(0);
  const task = JSON.parse(one.stdout()) as BackgroundTask;
  await until(() => closings(logOf(task)).length > 0);
  expect(registry({ dir }).list()).toMatchObject([{ id: task.id, state: 'exited', exitCode: 42, signal: null }]);
});
