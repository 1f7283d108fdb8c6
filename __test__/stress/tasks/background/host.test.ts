import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BackgroundTask } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  carrying,
  ended,
  files,
  gate,
  heard,
  logOf,
  open,
  quiet,
  registry,
  said,
  shimOf,
  tasksFolder,
  tasksHost,
} from '../../../background/support.ts';
import { confined } from '../../../support/confined/index.ts';
import {
  alive,
  folder,
  hostResult,
  kill,
  linuxTest,
  mark,
  seq,
  settles,
  shimsOf,
  sleepers,
  supervisorOf,
  until,
} from '../../../support/index.ts';

/** Directories below a temporary one that belong to one task or one registry. Shared ones stay. */
const own = (temporary: string) =>
  readdirSync(temporary, { withFileTypes: true, recursive: true })
    .map((entry) => join(entry.parentPath, entry.name).slice(temporary.length + 1))
    .filter((path) => !/^agent-bash-\d+(\/[a-z]+)?$/.test(path));

const tree = (seconds: string) =>
  `${quiet}setsid sleep ${seconds} & (env -i setsid sleep ${seconds} &); echo up; sleep ${seconds}; :`;

const ends: [string, string, NodeJS.Signals | null][] = [
  ['SIGKILL', 'setInterval(() => {}, 1000);', 'SIGKILL'],
  ['SIGTERM', 'setInterval(() => {}, 1000);', 'SIGTERM'],
  ['SIGHUP', 'setInterval(() => {}, 1000);', 'SIGHUP'],
  ['SIGINT', 'setInterval(() => {}, 1000);', 'SIGINT'],
  ['SIGABRT', 'setInterval(() => {}, 1000);', 'SIGABRT'],
  ['the end of its work', '', null],
  ['`process.exit`', 'process.exit(0);', null],
  ['`process.reallyExit`', 'process.reallyExit(0);', null],
  ['an uncaught exception', "setTimeout(() => { throw new Error('uncaught'); });", null],
];

describe("Linux: the host's end takes tasks without `dir`, trees and files included; those with `dir` go on", () => {
  linuxTest.each(ends)('%s', async (_, source, signal) => {
    const temporary = folder();
    const dir = tasksFolder();
    const [gone, kept] = [mark(), mark()];
    const one = tasksHost(
      {},
      `const lasting = new BackgroundRegistry({ dir: ${JSON.stringify(dir)} });
       const task = await registry.start(${JSON.stringify(tree(gone))});
       const stays = await lasting.start(${JSON.stringify(tree(kept))});
       await registry.wait(task.id, { pattern: 'up' });
       await lasting.wait(stays.id, { pattern: 'up' });
       say([task, stays]);
       const timer = setInterval(() => {}, 1000);
       await new Promise((resolve) => process.once('SIGUSR2', resolve));
       clearInterval(timer);
       ${source}`,
      { env: { TMPDIR: temporary }, before: 'ulimit -c 0' },
    );
    const [task, stays] = await said<[BackgroundTask, BackgroundTask]>(one);
    await until(() => sleepers(gone).length === 3 && sleepers(kept).length === 3);
    expect(task.logPath.startsWith(`${temporary}/`)).toBe(true);
    expect(own(temporary)).not.toEqual([]);
    one.process.kill(signal ?? 'SIGUSR2');
    if (signal === null) await one.ended();
    await until(() => sleepers(gone).length === 0);
    await until(() => own(temporary).length === 0, 'the temporary folder is gone');
    await until(() => sleepers(kept).length === 3);
    const tasks = registry({ dir });
    expect(tasks.list()).toMatchObject([{ id: stays.id, state: 'running' }]);
    expect(await settles(tasks.kill(stays.id))).toMatchObject({ output: 'up\n', task: { state: 'killed' } });
    expect(sleepers(kept)).toEqual([]);
  });

  linuxTest('what ignores TERM is killed', async () => {
    const seconds = mark();
    const command = `trap '' TERM HUP INT; setsid sleep ${seconds} & sleep ${seconds}`;
    const one = tasksHost(
      {},
      `say(await registry.start(${JSON.stringify(command)}, { graceMs: 15_000 })); setInterval(() => {}, 1e3);`,
    );
    await said(one);
    await until(() => sleepers(seconds).length === 2);
    one.process.kill('SIGKILL');
    await until(() => sleepers(seconds).length === 0);
  });

  linuxTest('TERM comes first, with the time to clean up', async () => {
    const cwd = folder();
    const command = "trap 'echo cleaned > cleaned; exit' TERM; echo up; while :; do sleep .05; done";
    const one = tasksHost(
      {},
      `const task = await registry.start(${JSON.stringify(command)}, { cwd: ${JSON.stringify(cwd)} });
       await registry.wait(task.id, { pattern: 'up' }); say('up'); setInterval(() => {}, 1e3);`,
    );
    await said(one);
    one.process.kill('SIGKILL');
    await until(() => files(cwd).includes('cleaned') && readFileSync(join(cwd, 'cleaned'), 'utf8') === 'cleaned\n');
  });

  linuxTest('its helpers go as well, and with the last task that has a `dir`', async () => {
    const dir = tasksFolder();
    const cwd = folder();
    const marked = `HELPED_BY=${Math.random()}`;
    const one = tasksHost(
      { dir },
      `say(await registry.start(${JSON.stringify(`${gate()}; echo end`)}, { cwd: ${JSON.stringify(cwd)} }));
       await new BackgroundRegistry().start('sleep ${mark()}');
       say('up'); setInterval(() => {}, 1e3);`,
      { env: { HELPED_BY: marked.slice('HELPED_BY='.length) } },
    );
    const task = await said<BackgroundTask>(one);
    await said(one, 1);
    const supervisor = await until(() => supervisorOf(one.pid));
    const helpers = [supervisor.pid, ...shimsOf(supervisor.pid).map(({ pid }) => pid)];
    const shim = shimOf(task);
    one.process.kill('SIGKILL');
    await one.ended();
    const others = helpers.filter((pid) => pid !== shim && pid !== supervisor.pid);
    // The world of the task has helpers of its own, which stay with it.
    if (!confined) await until(() => !others.some(alive));
    expect(alive(shim)).toBe(true);
    open(cwd);
    await until(() => !helpers.some(alive));
    expect(carrying(marked)).toEqual([]);
    expect(logOf(task)).toBe('end\n[background process completed]\n');
  });
});

describe('output goes on without the host', () => {
  test('all of it is in the log', async () => {
    const dir = tasksFolder();
    const cwd = folder();
    const command = `seq 1000; ${gate()}; seq 1001 200000; exit 3`;
    const one = tasksHost(
      { dir },
      `say(await registry.start(${JSON.stringify(command)}, { cwd: ${JSON.stringify(cwd)} }));`,
    );
    const task = await said<BackgroundTask>(one);
    expect((await one.ended()).code).toBe(0);
    open(cwd);
    const tasks = registry({ dir });
    expect(await ended(tasks, task)).toMatchObject({ state: 'exited', exitCode: 3 });
    expect(logOf(task) === `${seq(1, 200_000)}[background process failed: exit code 3]\n`).toBe(true);
  });

  test('its limit holds without the host', async () => {
    const dir = tasksFolder();
    const seconds = mark();
    const one = tasksHost({ dir }, `say(await registry.start('sleep ${seconds}; :', { timeoutMs: 1_500 }));`);
    const task = await said<BackgroundTask>(one);
    expect((await one.ended()).code).toBe(0);
    expect(await ended(registry({ dir }), task)).toMatchObject({ state: 'killed', exitCode: 124, signal: 'SIGTERM' });
    expect(sleepers(seconds)).toEqual([]);
  });
});

describe('close', () => {
  linuxTest('Linux: ends tasks without `dir`, and takes the files', async () => {
    const seconds = mark();
    const temporary = folder();
    const found = await hostResult<string[]>(
      `import { BackgroundRegistry } from 'agent-bash';
       const registry = new BackgroundRegistry();
       const task = await registry.start(${JSON.stringify(tree(seconds))});
       await registry.wait(task.id, { pattern: 'up' });
       await registry.close();
       const { readdirSync } = await import('node:fs');
       console.log(JSON.stringify(readdirSync(process.env.TMPDIR, { recursive: true })));`,
      { env: { TMPDIR: temporary } },
    );
    expect(sleepers(seconds)).toEqual([]);
    expect(found.filter((path) => !/^agent-bash-\d+(\/[a-z]+)?$/.test(path))).toEqual([]);
  });

  test('lets go of tasks with `dir`', async () => {
    const dir = tasksFolder();
    const seconds = mark();
    const first = registry({ dir });
    const task = await first.start(`echo up; sleep ${seconds}; :`);
    await heard(first, task, 'up');
    await first.close();
    await until(() => sleepers(seconds).length === 1);
    const tasks = registry({ dir });
    expect(tasks.list()).toMatchObject([{ id: task.id, state: 'running' }]);
    await settles(tasks.kill(task.id));
    expect(sleepers(seconds)).toEqual([]);
  });

  test('a pending wait settles', async () => {
    for (const options of [{}, { dir: tasksFolder() }]) {
      const tasks = registry(options);
      const task = await tasks.start(`sleep ${mark()}`);
      const waiting = tasks.wait(task.id).then(
        () => 'settled',
        (error) => error.code,
      );
      await settles(tasks.close());
      expect(['settled', 'ERR_BASH_CLOSED']).toContain(await settles(waiting));
    }
  });

  test('`Symbol.asyncDispose` is the same', async () => {
    const tasks = registry();
    const seconds = mark();
    await tasks.start(`sleep ${seconds}`);
    await until(() => sleepers(seconds).length === 1);
    await settles((tasks as unknown as AsyncDisposable)[Symbol.asyncDispose]() as Promise<void>);
    expect(sleepers(seconds)).toEqual([]);
  });

  test('other registries of the same directory stay open', async () => {
    const dir = tasksFolder();
    const [one, two] = [registry({ dir }), registry({ dir })];
    const task = await one.start(`echo up; sleep ${mark()}`);
    await one.close();
    expect(two.list()).toMatchObject([{ id: task.id, state: 'running' }]);
    expect((await settles(two.kill(task.id))).task.state).toBe('killed');
  });
});

linuxTest(
  'Linux: the supervisor is killed: tasks with `dir` go on, those without are gone, the next call works',
  async () => {
    const dir = tasksFolder();
    const [gone, kept] = [mark(), mark()];
    const cwd = folder();
    const one = tasksHost(
      {},
      `import { bash as run } from 'agent-bash';
     const lasting = new BackgroundRegistry({ dir: ${JSON.stringify(dir)} });
     const task = await registry.start(${JSON.stringify(tree(gone))});
     const stays = await lasting.start(${JSON.stringify(`sleep ${kept} & ${gate()}; echo end; kill $!; exit 9`)}, { cwd: ${JSON.stringify(cwd)} });
     say([task, stays]);
     const timer = setInterval(() => {}, 1000);
     process.on('SIGUSR2', async () => {
       const { task: end } = await registry.wait(task.id);
       const { stdout } = await run('echo again');
       const next = await registry.start('echo next');
       say([end.state, stdout, (await registry.wait(next.id)).output, lasting.list().length]);
       const { task: last } = await lasting.wait(stays.id);
       say(last);
       clearInterval(timer);
     });`,
    );
    const [, stays] = await said<[BackgroundTask, BackgroundTask]>(one);
    await until(() => sleepers(gone).length === 3 && sleepers(kept).length === 1);
    const supervisor = await until(() => supervisorOf(one.pid));
    kill(supervisor.pid, 'SIGKILL');
    one.process.kill('SIGUSR2');
    const [state, again, next, count] = await said<[string, string, string, number]>(one, 1);
    expect(['killed', 'lost']).toContain(state);
    expect([again, next, count]).toEqual(['again\n', 'next\n', 1]);
    await until(() => sleepers(gone).length === 0);
    await until(() => sleepers(kept).length === 1);
    open(cwd);
    expect(await said(one, 2)).toMatchObject({ id: stays.id, state: 'exited', exitCode: 9 });
    expect((await one.ended()).code).toBe(0);
  },
);

linuxTest('Linux: a worker thread that ends takes none of the others’ tasks', async () => {
  const dir = tasksFolder();
  const [mine, theirs] = [mark(), mark()];
  const one = tasksHost(
    {},
    `import { Worker } from 'node:worker_threads';
     import { createRequire } from 'node:module';
     const path = createRequire(process.cwd() + '/package.json').resolve('agent-bash');
     const task = await registry.start('sleep ${mine}');
     const source = "const { workerData, parentPort } = require('node:worker_threads'); const { BackgroundRegistry } = require(workerData.path); const kept = new BackgroundRegistry({ dir: workerData.dir }); kept.start('sleep ${theirs}').then((task) => { parentPort.postMessage(task); setInterval(() => {}, 1000); });";
     const worker = new Worker(source, { eval: true, execArgv: [], workerData: { path, dir: ${JSON.stringify(dir)} } });
     worker.on('message', async () => {
       await worker.terminate();
       say((await registry.check(task.id)).task.state);
     });
     setInterval(() => {}, 1000);`,
  );
  expect(await said(one)).toBe('running');
  // A task starts before its shell has executed its program.
  await until(() => sleepers(mine).length === 1 && sleepers(theirs).length === 1);
  one.process.kill('SIGKILL');
  await until(() => sleepers(mine).length === 0);
  await until(() => sleepers(theirs).length === 1);
});
