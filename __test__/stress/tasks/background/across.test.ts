import { join } from 'node:path';
import type { BackgroundCheck, BackgroundTask } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  body,
  closings,
  ended,
  gapless,
  gate,
  heard,
  logOf,
  numbered,
  open,
  quiet,
  registry,
  SOON,
  said,
  shimOf,
  tasksFolder,
  tasksHost,
} from '../../../background/support.ts';
import { fixture, folder, host, kill, linuxTest, mark, seq, settles, sleepers, until } from '../../../support/index.ts';

/** A process that starts a task and lives on; its first line is the task. */
function owner(dir: string, command: string, cwd: string) {
  return tasksHost(
    { dir },
    `const timer = setInterval(() => {}, 1000);
     process.on('SIGUSR2', async () => { say(registry.list()); clearInterval(timer); });
     say(await registry.start(${JSON.stringify(command)}, { cwd: ${JSON.stringify(cwd)} }));`,
  );
}

/** Events in the process that started the task, before a second one opens the directory. */
const fates: [string, (one: ReturnType<typeof owner>) => Promise<unknown>][] = [
  ['while the first still runs', async () => {}],
  [
    'after the first has exited',
    async (one) => {
      one.process.kill('SIGUSR2');
      await one.ended();
    },
  ],
  [
    'after the first was killed with SIGKILL',
    async (one) => {
      one.process.kill('SIGKILL');
      await one.ended();
    },
  ],
];

describe.each(fates)('a second process, %s', (_, fate) => {
  test('lists, checks, waits and gets the right end', async () => {
    const dir = tasksFolder();
    const cwd = folder();
    const one = owner(dir, `seq 10; ${gate()}; seq 11 20; exit 7`, cwd);
    const task = await said<BackgroundTask>(one);
    await until(() => logOf(task) === seq(1, 10));
    await fate(one);
    const second = tasksHost(
      { dir },
      `const id = process.env.TASK;
       say(registry.list());
       say(await registry.check(id));
       say(await registry.wait(id, { timeoutMs: 200 }));
       process.on('SIGUSR2', () => {});
       const waiting = registry.wait(id);
       say('waiting');
       say(await waiting);
       say(registry.notes);`,
      { env: { TASK: task.id } },
    );
    expect(await said(second)).toEqual([task]);
    expect(await said(second, 1)).toMatchObject({ output: seq(1, 10), task: { state: 'running' }, cursor: 21 });
    expect(await said(second, 2)).toMatchObject({ output: '', task: { state: 'running', exitCode: null } });
    await said(second, 3);
    open(cwd);
    const last = await said<BackgroundCheck>(second, 4);
    expect(last).toMatchObject({ output: seq(11, 20), task: { id: task.id, state: 'exited', exitCode: 7 } });
    expect(await said(second, 5)).toEqual([]);
    expect((await second.ended()).code).toBe(0);
    expect(logOf(task)).toBe(`${seq(1, 20)}[background process failed: exit code 7]\n`);
    expect(registry({ dir }).list()).toEqual([last.task]);
  });

  test('kills it, with its tree, and gets the final output', async () => {
    const dir = tasksFolder();
    const seconds = mark();
    const command = `${quiet}trap 'echo bye; exit 0' TERM; setsid sleep ${seconds} & echo up; sleep ${seconds} & wait; wait`;
    const one = owner(dir, command, folder());
    const task = await said<BackgroundTask>(one);
    await until(() => sleepers(seconds).length === 2 && logOf(task) === 'up\n');
    await fate(one);
    const second = tasksHost({ dir }, 'say(await registry.kill(process.env.TASK));', { env: { TASK: task.id } });
    expect(await said(second)).toMatchObject({
      output: 'up\nbye\n',
      task: { state: 'killed', signal: 'SIGTERM', exitCode: 143 },
    });
    expect(sleepers(seconds)).toEqual([]);
    expect(closings(logOf(task))).toEqual(['[background process killed: SIGTERM]']);
    expect((await second.ended()).code).toBe(0);
    if (one.process.exitCode === null && one.process.signalCode === null) {
      one.process.kill('SIGUSR2');
      expect(await said(one, 1)).toMatchObject([{ id: task.id, state: 'killed' }]);
    }
  });

  test('waits for a pattern and for a port', async () => {
    const dir = tasksFolder();
    const cwd = folder();
    const one = owner(dir, `node ${fixture('server.mjs')}; :`, cwd);
    const task = await said<BackgroundTask>(one);
    await fate(one);
    const tasks = registry({ dir });
    const { output, matched } = await heard(tasks, task, /port \d+\n/);
    expect(matched).toBe(true);
    const port = Number(/port (\d+)/.exec(output)?.[1]);
    expect((await settles(tasks.wait(task.id, { port }))).matched).toBe(true);
    await settles(tasks.killAll(), SOON);
  });
});

test('it ended in between: the right end, and the whole log', async () => {
  const dir = tasksFolder();
  const one = tasksHost({ dir }, `say(await registry.start(${JSON.stringify(`${numbered(500)}; exit 19`)}));`);
  const task = await said<BackgroundTask>(one);
  expect((await one.ended()).code).toBe(0);
  await until(() => closings(logOf(task)).length === 1);
  const tasks = registry({ dir });
  expect(tasks.list()).toMatchObject([{ id: task.id, state: 'exited', exitCode: 19, signal: null }]);
  const check = await settles(tasks.wait(task.id));
  expect(gapless(check.output)).toEqual({ o: 500, e: 500 });
  expect(check.task.endedAt).toBeGreaterThanOrEqual(task.startedAt);
  expect(gapless(body(logOf(task)))).toEqual({ o: 500, e: 500 });
});

test('many processes start tasks in one directory at once: each sees all', async () => {
  const dir = tasksFolder();
  const others = Array.from({ length: 4 }, (_, n) =>
    tasksHost(
      { dir },
      `const started = await Promise.all(Array.from({ length: 8 }, (_, i) => registry.start('echo ${n} ' + i + '; exit ' + i)));
       say(await Promise.all(started.map(({ id }) => registry.wait(id))));`,
    ),
  );
  const all = (await Promise.all(others.map((one) => said<BackgroundCheck[]>(one)))).flatMap((checks, n) => {
    expect(checks.map(({ output }) => output)).toEqual(Array.from({ length: 8 }, (_, i) => `${n} ${i}\n`));
    expect(checks.map(({ task }) => task.exitCode)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    return checks.map(({ task }) => task);
  });
  const byId = (a: BackgroundTask, b: BackgroundTask) => a.id.localeCompare(b.id);
  expect(registry({ dir }).list().sort(byId)).toEqual(all.sort(byId));
});

test('a registry that is open already sees tasks of others come and end', async () => {
  const dir = tasksFolder();
  const cwd = folder();
  const tasks = registry({ dir });
  expect(tasks.list()).toEqual([]);
  const one = owner(dir, `${gate()}; exit 3`, cwd);
  const task = await said<BackgroundTask>(one);
  expect(tasks.list()).toEqual([task]);
  expect((await tasks.check(task.pid)).task.id).toBe(task.id);
  open(cwd);
  expect(await ended(tasks, task)).toMatchObject({ exitCode: 3 });
  one.process.kill('SIGUSR2');
  expect(await said(one, 1)).toMatchObject([{ id: task.id, state: 'exited', exitCode: 3 }]);
});

test('`maxTasks` counts the tasks of all processes', async () => {
  const dir = tasksFolder();
  const one = tasksHost(
    { dir },
    `await registry.start('sleep ${mark()}'); say(await registry.start('sleep ${mark()}')); setInterval(() => {}, 1e3);`,
  );
  await said(one);
  const tasks = registry({ dir, maxTasks: 2 });
  await expect(tasks.start('true')).rejects.toMatchObject({ code: 'ERR_BASH_TOO_MANY_TASKS' });
});

linuxTest('Linux: the shim is killed: whoever waits in whatever process is told that the task is lost', async () => {
  const dir = tasksFolder();
  const one = owner(dir, `echo up; sleep ${mark()}; :`, folder());
  const task = await said<BackgroundTask>(one);
  const second = tasksHost(
    { dir },
    `registry.on('exit', (task) => say(['exit', task.state]));
     const waiting = registry.wait(process.env.TASK);
     await registry.wait(process.env.TASK, { pattern: 'up' });
     say('waiting');
     say(['wait', (await waiting).task.state]);
     setInterval(() => {}, 1000);`,
    { env: { TASK: task.id } },
  );
  expect(await said(second)).toBe('waiting');
  const mine = ended(registry({ dir }), task);
  kill(shimOf(task), 'SIGKILL');
  expect(await mine).toMatchObject({ state: 'lost', exitCode: null, signal: null });
  const told = [await said<string[]>(second, 1), await said<string[]>(second, 2)];
  expect(told.sort()).toEqual([
    ['exit', 'lost'],
    ['wait', 'lost'],
  ]);
  one.process.kill('SIGUSR2');
  expect(await said(one, 1)).toMatchObject([{ id: task.id, state: 'lost' }]);
  expect(closings(logOf(task))).toEqual(['[background process lost: its helper process was killed]']);
});

test('a path far too long for a socket works', async () => {
  const dir = join(tasksFolder(), 'x'.repeat(100), 'y'.repeat(100));
  const task = await registry({ dir }).start(`echo up; sleep ${mark()}`);
  const second = tasksHost({ dir }, 'say(await registry.kill(process.env.TASK));', { env: { TASK: task.id } });
  expect(await said(second)).toMatchObject({ task: { state: 'killed', signal: 'SIGTERM' } });
});

linuxTest('Linux: `limit`, `graceMs` and the mark of a task do not depend on its host', async () => {
  const dir = tasksFolder();
  const seconds = mark();
  const one = host(
    `import { BackgroundRegistry } from 'agent-bash';
     const registry = new BackgroundRegistry({ dir: ${JSON.stringify(dir)} });
     const task = await registry.start("trap '' TERM; sleep ${seconds} & while :; do sleep .05; done", { graceMs: 300 });
     console.log(JSON.stringify(task));`,
  );
  expect((await one.ended()).code).toBe(0);
  const task = JSON.parse(one.stdout()) as BackgroundTask;
  await until(() => sleepers(seconds).length === 1);
  const started = performance.now();
  const check = await settles(registry({ dir }).kill(task.id));
  expect(check.task).toMatchObject({ state: 'killed', signal: 'SIGKILL', exitCode: 137 });
  expect(performance.now() - started).toBeGreaterThan(250);
  expect(sleepers(seconds)).toEqual([]);
});
