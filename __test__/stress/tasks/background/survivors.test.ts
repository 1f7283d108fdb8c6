import { type BackgroundRegistry, type BackgroundTask, type BashResult, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  body,
  closings,
  ended,
  files,
  gate,
  heard,
  logOf,
  open,
  registry,
  said,
  tasksFolder,
  tasksHost,
} from '../../../background/support.ts';
import {
  alive,
  folder,
  HANG,
  host,
  kill,
  linuxTest,
  mark,
  settles,
  sleepers,
  timed,
  until,
} from '../../../support/index.ts';

function taskOf(tasks: BackgroundRegistry, id: string | null | undefined): BackgroundTask {
  const found = tasks.list().find((task) => task.id === id);
  if (!found) throw new Error(`no task ${id} in ${JSON.stringify(tasks.list())}`);
  return found;
}

/** The one task that the survivors of a command have become. */
function adopted(tasks: BackgroundRegistry, { survivors }: BashResult): BackgroundTask {
  const ids = new Set(survivors.flatMap(({ taskId }) => taskId ?? []));
  expect(ids.size).toBe(1);
  return taskOf(tasks, [...ids][0]);
}

describe('survivors that hold the pipes become a task', () => {
  test('`sleep 60 & echo hi` returns at once, and tells of it', async () => {
    const tasks = registry();
    const seconds = mark();
    const [result, elapsed] = await timed(() => bash(`sleep ${seconds} & echo hi`, { registry: tasks }));
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, stdout: 'hi\n', background: null });
    expect(elapsed).toBeLessThan(HANG);
    expect(result.survivors).toMatchObject([{ pid: sleepers(seconds)[0], taskId: expect.any(String) }]);
    const task = adopted(tasks, result);
    expect(task).toMatchObject({ pid: result.survivors[0]?.pid, state: 'running', exitCode: null });
    expect((await settles(tasks.kill(task.id))).task).toMatchObject({ state: 'killed', signal: 'SIGTERM' });
    expect(sleepers(seconds)).toEqual([]);
  });

  test.each([
    ['stdout', '2>/dev/null', ''],
    ['stderr', '>/dev/null', '>&2'],
  ])('one that holds only %s', async (_, redirect, to) => {
    const tasks = registry();
    const cwd = folder();
    const result = await bash(`(${gate()}; echo late ${to}; exit 4) </dev/null ${redirect} & echo hi`, {
      registry: tasks,
      cwd,
    });
    const task = adopted(tasks, result);
    open(cwd);
    expect(await settles(tasks.wait(task.id))).toMatchObject({ output: 'late\n', task: { exitCode: 4 } });
  });

  test('the rest of the output is kept, none of it twice', async () => {
    const tasks = registry();
    const cwd = folder();
    const command = `(echo early; ${gate()}; seq 1000; echo e >&2; exit 5) & echo hi`;
    const result = await bash(command, { registry: tasks, cwd });
    const task = adopted(tasks, result);
    open(cwd);
    expect(await ended(tasks, task)).toMatchObject({ state: 'exited', exitCode: 5, signal: null });
    const log = logOf(task);
    expect(log.endsWith('[background process failed: exit code 5]\n')).toBe(true);
    expect(body(log).replace('e\n', '')).toMatch(/^1\n2\n3\n(\d+\n)*1000\n$/);
    expect(
      body(log)
        .split('\n')
        .filter((line) => line === 'e'),
    ).toHaveLength(1);
    expect(closings(log)).toHaveLength(1);
  });

  test('several are one task: pid and exit code of the eldest, ended with the last', async () => {
    const tasks = registry();
    const cwd = folder();
    const command = `(${gate('a')}; echo a; exit 3) & sleep .1; (${gate('b')}; echo b; exit 4) & echo $!`;
    const result = await bash(command, { registry: tasks, cwd });
    const task = adopted(tasks, result);
    expect(tasks.list()).toHaveLength(1);
    expect(task.pid).not.toBe(Number(result.stdout));
    expect(result.survivors.map(({ pid }) => pid)).toContain(task.pid);
    open(cwd, 'a');
    await heard(tasks, task, 'a\n');
    expect((await tasks.check(task.id)).task.state).toBe('running');
    open(cwd, 'b');
    expect(await ended(tasks, task)).toMatchObject({ state: 'exited', exitCode: 3 });
    expect(body(logOf(task))).toBe('a\nb\n');
  });

  test('a signal ends it: told as it was', async () => {
    const tasks = registry();
    const seconds = mark();
    const task = adopted(tasks, await bash(`sleep ${seconds} & :`, { registry: tasks }));
    kill(task.pid, 'SIGKILL');
    expect(await ended(tasks, task)).toMatchObject({ state: 'killed', signal: 'SIGKILL', exitCode: 137 });
    expect(logOf(task)).toBe('[background process killed: SIGKILL]\n');
  });

  test('an unfinished line and half a character at the hand-over', async () => {
    const tasks = registry();
    const cwd = folder();
    const command = `(printf 'a\\xe2'; ${gate()}; printf '\\x80\\x94\\n') & :`;
    const result = await bash(command, { registry: tasks, cwd });
    const task = adopted(tasks, result);
    open(cwd);
    await ended(tasks, task);
    expect(`${result.stdout}${body(logOf(task))}`).toBe('a—\n');
  });
});

describe('a daemon that let go of the pipes is listed and left alone', () => {
  test('with a registry', async () => {
    const tasks = registry();
    const seconds = mark();
    const command = `setsid sleep ${seconds} </dev/null >/dev/null 2>&1 & until pgrep -fx 'sleep ${seconds}' >/dev/null; do :; done; echo hi`;
    const result = await bash(command, { registry: tasks });
    expect(result.survivors).toMatchObject([{ pid: sleepers(seconds)[0], taskId: null }]);
    expect(tasks.list()).toEqual([]);
    await tasks.close();
    await until(() => sleepers(seconds).length === 1);
  });

  test('it outlives the host', async () => {
    const seconds = mark();
    const command = `setsid sleep ${seconds} </dev/null >/dev/null 2>&1 & until pgrep -fx 'sleep ${seconds}' >/dev/null; do :; done`;
    const one = tasksHost({}, `await bash(${JSON.stringify(command)}, { registry }); say('done');`);
    expect((await one.ended()).code).toBe(0);
    await until(() => sleepers(seconds).length === 1);
  });
});

describe('what a task leaves behind', () => {
  test('its survivors that hold the pipes become a task of their own', async () => {
    const tasks = registry();
    const cwd = folder();
    const task = await tasks.start(`(${gate()}; echo late; exit 6) & echo hi; exit 2`, { cwd });
    expect(await settles(tasks.wait(task.id))).toMatchObject({
      output: 'hi\n',
      task: { state: 'exited', exitCode: 2 },
    });
    expect(logOf(task)).toBe('hi\n[background process failed: exit code 2]\n');
    const other = await until(() => tasks.list().find(({ id }) => id !== task.id));
    expect(other).toMatchObject({ state: 'running' });
    expect(other.pid).not.toBe(task.pid);
    expect(alive(other.pid)).toBe(true);
    open(cwd);
    expect(await settles(tasks.wait(other.id))).toMatchObject({
      output: 'late\n',
      task: { state: 'exited', exitCode: 6 },
    });
    expect(logOf(other)).toBe('late\n[background process failed: exit code 6]\n');
  });

  test('a daemon that let go of the pipes is left alone', async () => {
    const tasks = registry();
    const seconds = mark();
    const command = `setsid sleep ${seconds} </dev/null >/dev/null 2>&1 & until pgrep -fx 'sleep ${seconds}' >/dev/null; do :; done`;
    const task = await tasks.start(command);
    expect(await ended(tasks, task)).toMatchObject({ state: 'exited', exitCode: 0 });
    expect(tasks.list()).toHaveLength(1);
    await until(() => sleepers(seconds).length === 1);
  });
});

describe("the host's end", () => {
  linuxTest.each([
    ['without `dir`: the survivors that were adopted go', false],
    ['with `dir`: they go on', true],
  ])('Linux: %s', async (_, kept) => {
    const seconds = mark();
    const cwd = folder();
    const dir = tasksFolder();
    const command = `(sleep ${seconds} & ${gate()}; kill $!; echo late; exit 3) & echo hi`;
    const one = tasksHost(
      kept ? { dir } : {},
      `const { survivors } = await bash(${JSON.stringify(command)}, { registry, cwd: ${JSON.stringify(cwd)} });
       say(registry.list()); setInterval(() => {}, 1000);`,
    );
    const [task] = await said<BackgroundTask[]>(one);
    await until(() => sleepers(seconds).length === 1);
    one.process.kill('SIGKILL');
    await one.ended();
    if (!kept) return void (await until(() => sleepers(seconds).length === 0));
    const tasks = registry({ dir });
    expect(tasks.list()).toMatchObject([{ id: task?.id, state: 'running' }]);
    open(cwd);
    const last = taskOf(tasks, task?.id);
    expect(await ended(tasks, last)).toMatchObject({ state: 'exited', exitCode: 3 });
    expect(logOf(last)).toBe('late\n[background process failed: exit code 3]\n');
  });

  // Each moment of the adoption has its test in crates/supervisor/src/shim/ends_tests/mod.rs.
  linuxTest('Linux: it comes just as they are adopted: they go, too', async () => {
    const seconds = mark();
    // The pipes are quiet for 250 ms. Then the shim checks for 50 ms whether the survivors are about to exit.
    const hosts = [250, 275, 300].map((ms) =>
      tasksHost(
        {},
        `const end = () => setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${ms});
         await bash('sleep ${seconds} & echo hi', { registry, onOutput: end });
         setInterval(() => {}, 1000);`,
      ),
    );
    for (const one of hosts) expect((await one.ended()).signal).toBe('SIGKILL');
    await until(() => sleepers(seconds).length === 0, 'nothing is left');
  });

  test('without a registry they go on, and their writes go nowhere', async () => {
    const cwd = folder();
    const command = `(${gate()}; seq 100000; echo $? > wrote) & echo hi`;
    const one = host(
      `const { survivors } = await bash(${JSON.stringify(command)}, { cwd: ${JSON.stringify(cwd)} });
       console.log(JSON.stringify(survivors.map(({ taskId }) => taskId)));`,
    );
    expect((await one.ended()).code).toBe(0);
    expect(JSON.parse(one.stdout())).toContain(null);
    open(cwd);
    await until(() => files(cwd).includes('wrote'));
  });
});

test('no place left: they go on without a task, as without a registry', async () => {
  const tasks = registry({ maxTasks: 1 });
  await tasks.start(`sleep ${mark()}`);
  const seconds = mark();
  const result = await bash(`sleep ${seconds} & echo hi`, { registry: tasks });
  expect(result).toMatchObject({ stdout: 'hi\n', survivors: [{ pid: sleepers(seconds)[0], taskId: null }] });
  expect(tasks.list()).toHaveLength(1);
  await until(() => sleepers(seconds).length === 1);
});
