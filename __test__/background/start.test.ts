import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, type BashOptions, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  confined,
  folder,
  HANG,
  host,
  hostEnv,
  linuxTest,
  mark,
  processes,
  processOf,
  rejection,
  settles,
  sleepers,
  timed,
  until,
} from '../support/index.ts';
import { ended, files, gate, heard, logOf, open, registry, tasksFolder } from './support.ts';

describe('start returns at once', () => {
  test.each([
    ['without `dir`', false],
    ['with `dir`', true],
  ])('%s, with all that tells of the task', async (_, kept) => {
    const tasks = registry(kept ? { dir: tasksFolder() } : {});
    const cwd = folder();
    const command = `echo $$; sleep ${mark()}; :`;
    const before = Date.now();
    const [task, elapsed] = await timed(() => tasks.start(command, { cwd }));
    expect(elapsed).toBeLessThan(HANG);
    expect(task).toStrictEqual({
      id: expect.stringMatching(/^\w+$/),
      pid: expect.any(Number),
      pgid: task.pid,
      command,
      cwd,
      logPath: expect.stringMatching(/^\/.+\.log$/),
      startedAt: expect.any(Number),
      state: 'running',
      exitCode: null,
      signal: null,
      endedAt: null,
      target: null,
      draft: null,
    });
    expect(Math.abs(task.startedAt - before)).toBeLessThan(HANG);
    expect(structuredClone(task)).toStrictEqual(task);
    expect(JSON.parse(JSON.stringify(task))).toStrictEqual(task);
    expect(tasks.list()).toStrictEqual([task]);
    const { output, matched } = await heard(tasks, task, '^\\d+\\n');
    // A confined command has another number inside.
    expect([output, matched]).toEqual([confined ? output : `${task.pid}\n`, true]);
    expect(tasks.notes).toEqual([]);
  });

  linuxTest('Linux: its process leads a session and a group, and what it says about stopping it is true', async () => {
    const tasks = registry();
    const seconds = mark();
    // Two of them are in no group with a known id.
    const text = `setsid sleep ${seconds} & env -i setsid sleep ${seconds} & sleep ${seconds} & sleep ${seconds}`;
    const task = await tasks.start(text);
    await until(() => sleepers(seconds).length === 4);
    const stat = readFileSync(`/proc/${task.pid}/stat`, 'utf8');
    const [, , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    expect([Number(group), Number(session)]).toEqual([task.pgid, task.pid]);
    expect(await bash(`kill -9 -${task.pgid}`, { confine: 'off' })).toMatchObject({ exitCode: 0 });
    expect(await ended(tasks, task)).toMatchObject({ state: 'killed', signal: 'SIGKILL', exitCode: 137 });
    expect(sleepers(seconds)).toEqual([]);
  });

  test("`mode: 'background'` gives a result with the task", async () => {
    const tasks = registry();
    const result = await bash(`sleep ${mark()}`, { registry: tasks, mode: 'background' });
    const [task] = tasks.list();
    expect(result).toMatchObject({
      status: 'backgrounded',
      exitCode: null,
      signal: null,
      stdout: '',
      stderr: '',
      pid: task?.pid,
      timeoutMs: 86_400_000,
      truncation: { stdout: null, stderr: null },
      background: task,
      survivors: [],
      notes: [],
    });
    expect(JSON.parse(JSON.stringify(result))).toStrictEqual(result);
  });

  test('without a registry, in the default one, which outlives the host', async () => {
    const state = folder();
    const one = host(
      `const { background } = await bash('echo up; sleep 60', { mode: 'background' });
       console.log(JSON.stringify(background));`,
      { env: { XDG_STATE_HOME: state } },
    );
    expect((await one.ended()).code).toBe(0);
    const task = JSON.parse(one.stdout());
    expect(task.logPath.startsWith(join(state, 'agent-bash/'))).toBe(true);
    const tasks = registry({ dir: join(state, 'agent-bash') });
    expect(tasks.list()).toMatchObject([{ id: task.id, pid: task.pid, state: 'running' }]);
    expect(await heard(tasks, task, 'up')).toMatchObject({ output: 'up\n' });
    expect(await settles(tasks.kill(task.id))).toMatchObject({ task: { state: 'killed' } });
  });

  test('many at once: each is a task of its own', async () => {
    const tasks = registry();
    const started = await Promise.all(Array.from({ length: 40 }, (_, n) => tasks.start(`echo ${n}; exit ${n}`)));
    expect(new Set(started.map(({ id }) => id)).size).toBe(40);
    expect(new Set(started.map(({ logPath }) => logPath)).size).toBe(40);
    const checks = await Promise.all(started.map(({ id }) => settles(tasks.wait(id))));
    expect(checks.map(({ output, task }) => [output, task.exitCode])).toEqual(started.map((_, n) => [`${n}\n`, n]));
  });
});

describe('the options are those of a command', () => {
  test('env, args, cwd, stdin, shell', async () => {
    hostEnv({ SOME_API_KEY: 'held back' });
    const tasks = registry();
    const cwd = folder();
    const { id } = await tasks.start('echo "$HERE $1 $SOME_API_KEY"; pwd -P; cat; test -t 0; echo $?', {
      env: { HERE: 'here' },
      args: ['one'],
      cwd,
      stdin: 'fed\n',
    });
    expect((await settles(tasks.wait(id))).output).toBe(`here one \n${cwd}\nfed\n1\n`);
  });

  test('a large stdin that is read late', async () => {
    const tasks = registry();
    const cwd = folder();
    const task = await tasks.start(`${gate()}; wc -c`, { cwd, stdin: 'x'.repeat(1_000_000) });
    open(cwd);
    expect((await settles(tasks.wait(task.id))).output.trim()).toBe('1000000');
  });

  test('without stdin it is empty: `cat` ends at once', async () => {
    const tasks = registry();
    expect(await ended(tasks, await tasks.start('cat; exit 4'))).toMatchObject({ state: 'exited', exitCode: 4 });
  });

  test('stdout and stderr share one log, in the order of arrival', async () => {
    const tasks = registry();
    const cwd = folder();
    const task = await tasks.start(`echo o1; ${gate('1')}; echo e1 >&2; ${gate('2')}; echo o2`, { cwd });
    await heard(tasks, task, 'o1\n');
    open(cwd, '1');
    await heard(tasks, task, 'e1\n');
    open(cwd, '2');
    await ended(tasks, task);
    expect(logOf(task)).toBe('o1\ne1\no2\n[background process completed]\n');
  });

  test('`merge` keeps the true order', async () => {
    const tasks = registry();
    const task = await tasks.start('for i in {1..200}; do echo o$i; echo e$i >&2; done', { merge: true });
    let expected = '';
    for (let n = 1; n <= 200; n++) expected += `o${n}\ne${n}\n`;
    expect((await settles(tasks.wait(task.id))).output).toBe(expected);
  });

  test('the log is sanitized text', async () => {
    const tasks = registry();
    const task = await tasks.start("printf '\\e[31m10%%\\r50%%\\r100%%\\e[0m\\r\\n'");
    await ended(tasks, task);
    expect(logOf(task)).toBe('100%\n[background process completed]\n');
  });

  test('`start({ signal })` aborts the start only', async () => {
    const tasks = registry();
    const stop = new AbortController();
    const task = await tasks.start(`sleep ${mark()}`, { signal: stop.signal });
    stop.abort();
    expect((await tasks.check(task.id)).task.state).toBe('running');
    await bash('true');
    expect((await tasks.check(task.id)).task.state).toBe('running');
  });

  test('a signal that is aborted already starts nothing', async () => {
    const dir = tasksFolder();
    const tasks = registry({ dir });
    const cwd = folder();
    await rejection(() => tasks.start('touch started', { cwd, signal: AbortSignal.abort() }));
    const result = await bash('touch started', {
      cwd,
      registry: tasks,
      mode: 'background',
      signal: AbortSignal.abort(),
    });
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, pid: 0, background: null });
    expect([readdirSync(cwd), files(dir), tasks.list()]).toEqual([[], [], []]);
  });
});

describe('a refused start leaves nothing: no task, no log, no process', () => {
  const wrong: [string, unknown, object | undefined, string, RegExp?][] = [
    ['a NUL in the command', 'echo a\0b', {}, 'ERR_BASH_INVALID_ARG'],
    ['a command that is no string', 7, {}, 'ERR_BASH_INVALID_ARG'],
    ['a missing cwd', 'true', { cwd: '/nowhere/at/all' }, 'ERR_BASH_CWD_NOT_FOUND', /\/nowhere\/at\/all/],
    ['a cwd that is a file', 'true', { cwd: import.meta.filename }, 'ERR_BASH_CWD_NOT_DIRECTORY', /start\.test/],
    ['no such shell', 'true', { shell: '/nowhere/bash' }, 'ERR_BASH_SHELL_NOT_FOUND', /\/nowhere\/bash/],
    ['timeoutMs 0', 'true', { timeoutMs: 0 }, 'ERR_BASH_INVALID_ARG', /timeoutMs/],
    ['timeoutMs over a day', 'true', { timeoutMs: 86_400_001 }, 'ERR_BASH_INVALID_ARG', /timeoutMs/],
    ['timeoutMs of a wrong type', 'true', { timeoutMs: '5' }, 'ERR_BASH_INVALID_ARG', /timeoutMs/],
    ['graceMs over 15 s', 'true', { graceMs: 15_001 }, 'ERR_BASH_INVALID_ARG', /graceMs/],
    ['an env with a number', 'true', { env: { A: 1 } }, 'ERR_BASH_INVALID_ARG', /env\.A/],
    ['a signal that is none', 'true', { signal: {} }, 'ERR_BASH_INVALID_ARG', /signal/],
    ['options that are none', 'true', 'x' as never, 'ERR_BASH_INVALID_ARG', /options/],
    ['a variable too large for the kernel', 'true', { env: { BIG: 'x'.repeat(200_000) } }, 'ERR_BASH_SPAWN'],
  ];

  test.each(wrong)('%s', async (_, command, options, code, words = /./) => {
    const dir = tasksFolder();
    const tasks = registry({ dir });
    const error = await rejection(() => tasks.start(command as string, options as BashOptions));
    expect(error).toMatchObject({ code, message: expect.stringMatching(words) });
    expect([tasks.list(), files(dir)]).toEqual([[], []]);
  });

  test('too many tasks; ended ones do not count', async () => {
    const dir = tasksFolder();
    const tasks = registry({ dir, maxTasks: 2 });
    const first = await tasks.start(`sleep ${mark()}`);
    await tasks.start(`sleep ${mark()}`);
    const cwd = folder();
    const before = files(dir);
    const error = await rejection(() => tasks.start('touch started', { cwd }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TOO_MANY_TASKS', message: expect.stringContaining('2') });
    expect(await rejection(() => bash('true', { registry: tasks, mode: 'background' }))).toMatchObject({
      code: 'ERR_BASH_TOO_MANY_TASKS',
    });
    expect([readdirSync(cwd), files(dir).sort()]).toEqual([[], before.sort()]);
    await settles(tasks.kill(first.id));
    expect((await tasks.start('true')).state).toBe('running');
  });

  test('too many at once: no more than `maxTasks` are started', async () => {
    const tasks = registry({ maxTasks: 5 });
    const seconds = mark();
    const all = await Promise.allSettled(Array.from({ length: 12 }, () => tasks.start(`sleep ${seconds}`)));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    await until(() => sleepers(seconds).length === 5);
  });

  test('64 is the default', async () => {
    const tasks = registry();
    const all = await Promise.allSettled(Array.from({ length: 66 }, () => tasks.start(`sleep ${mark()}`)));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(64);
  });

  test('a closed registry', async () => {
    const cwd = folder();
    const tasks = registry();
    await tasks.close();
    await tasks.close();
    for (const call of [
      () => tasks.start('touch started', { cwd }),
      () => tasks.check('t'),
      () => tasks.wait('t'),
      () => tasks.kill('t'),
      () => bash('touch started', { cwd, registry: tasks, mode: 'background' }),
    ]) {
      expect(await rejection(call)).toMatchObject({ code: 'ERR_BASH_CLOSED' });
    }
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('a task that is not known', async () => {
    const tasks = registry();
    for (const name of ['t000000000000', 'nothing', '../../x', 4_000_000, process.pid, '1']) {
      for (const method of ['check', 'wait', 'kill'] as const) {
        const error = await rejection(() => tasks[method](name));
        expect(error.code, `${method} ${name}`).toBe('ERR_BASH_UNKNOWN_TASK');
      }
    }
    for (const name of [undefined, null, {}, true, '', -1, 1.5]) {
      expect((await rejection(() => tasks.check(name as never))).code).toBe('ERR_BASH_INVALID_ARG');
    }
    expect(processOf(process.pid)).toBeDefined();
  });

  test.each([{ maxTasks: 0 }, { maxTasks: 1.5 }, { maxLogBytes: -1 }, { retentionMs: 'x' }, { dir: 7 }, { dir: '' }])(
    'a registry with %j',
    async (options) => {
      let tasks: BackgroundRegistry;
      try {
        tasks = new BackgroundRegistry(options as object);
      } catch (error) {
        expect(error).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
        return;
      }
      expect(await rejection(() => tasks.start('true'))).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
      await tasks.close();
    },
  );

  test('a `dir` that is a file, or cannot be made', async () => {
    const file = join(folder(), 'file');
    writeFileSync(file, 'mine');
    for (const dir of [file, join(file, 'below')]) {
      let error: unknown;
      try {
        const tasks = registry({ dir });
        error = await rejection(() => tasks.start('true'));
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toMatchObject({
        code: expect.stringMatching(/^ERR_BASH_/),
        message: expect.stringContaining(file),
      });
    }
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });
});

test('a value of `env` is in no file, no argument list and no error', async () => {
  const dir = tasksFolder();
  const tasks = registry({ dir });
  const secret = `hunter-${Math.random()}`;
  const seconds = mark();
  await tasks.start(`sleep ${seconds}`, { env: { DATABASE_PASSWORD: secret } });
  await until(() => sleepers(seconds).length === 1);
  const error = await rejection(() => tasks.start('true', { env: { PASSWORD: secret }, cwd: '/nowhere' }));
  expect(String(error)).not.toContain(secret);
  for (const file of files(dir).filter((name) => !name.endsWith('.sock'))) {
    expect(readFileSync(join(dir, file), 'latin1')).not.toContain(secret);
  }
  expect(processes().filter(({ argv }) => argv.join(' ').includes(secret))).toEqual([]);
});
