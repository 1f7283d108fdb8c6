import type { BackgroundTask } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { drip, everyByte, folder, mark, rejection, seq, settles, until } from '../support/index.ts';
import { body, ended, gate, logOf, open, registry, said, tasksFolder, tasksHost } from './support.ts';

describe('`exit`', () => {
  test('tells of each end, once, with how it came', async () => {
    const tasks = registry();
    const heard: BackgroundTask[] = [];
    tasks.on('exit', (task) => heard.push(task));
    const started = await Promise.all([0, 1, 7].map((code) => tasks.start(`exit ${code}`)));
    const killed = await tasks.start(`sleep ${mark()}`);
    await until(() => heard.length === 3);
    await settles(tasks.kill(killed.id));
    await until(() => heard.length === 4);
    const found = (id: string) => heard.find((task) => task.id === id);
    expect(started.map(({ id }) => found(id)?.exitCode)).toEqual([0, 1, 7]);
    expect(found(killed.id)).toMatchObject({ state: 'killed', signal: 'SIGTERM', exitCode: 143 });
    expect(new Set(heard.map(({ id }) => id)).size).toBe(4);
    for (const task of heard) {
      expect(task.endedAt).toBeGreaterThanOrEqual(task.startedAt);
      expect(JSON.parse(JSON.stringify(task))).toStrictEqual(task);
    }
  });

  test('comes after the log is whole', async () => {
    const tasks = registry();
    const logs: string[] = [];
    tasks.on('exit', (task) => logs.push(logOf(task)));
    await tasks.start('seq 20000; exit 2');
    await until(() => logs.length === 1);
    expect(logs[0] === `${seq(1, 20_000)}[background process failed: exit code 2]\n`).toBe(true);
  });

  test('several listeners; `off` takes one away', async () => {
    const tasks = registry();
    const calls: string[] = [];
    const one = () => calls.push('one');
    const two = () => calls.push('two');
    tasks.on('exit', one);
    tasks.on('exit', two);
    await tasks.start('true');
    await until(() => calls.length === 2);
    tasks.off('exit', one);
    tasks.off('exit', () => {});
    await tasks.start('true');
    await until(() => calls.length === 3);
    expect(calls).toEqual(['one', 'two', 'two']);
  });

  test('reports tasks that another process ends or that came with the directory', async () => {
    const dir = tasksFolder();
    const cwd = folder();
    const task = await registry({ dir }).start(`${gate()}; exit 6`, { cwd });
    const heard: BackgroundTask[] = [];
    registry({ dir }).on('exit', (one) => heard.push(one));
    open(cwd);
    await until(() => heard.length > 0);
    expect(heard).toMatchObject([{ id: task.id, exitCode: 6 }]);
  });
});

describe('`output`', () => {
  test('gives everything, in order and once', async () => {
    const tasks = registry();
    let text = '';
    let of: BackgroundTask | undefined;
    tasks.on('output', (task, piece) => {
      text += piece;
      of = task;
    });
    const task = await tasks.start('for i in {1..3000}; do echo "line $i"; ((i % 500)) || sleep .02; done');
    await ended(tasks, task);
    const expected = body(logOf(task));
    await until(() => text.length >= expected.length);
    expect(text === expected).toBe(true);
    expect(of).toMatchObject({ id: task.id, pid: task.pid });
  });

  test('of several tasks, each by itself; the shared cursor does not care', async () => {
    const tasks = registry();
    const texts = new Map<string, string>();
    tasks.on('output', ({ id }, piece) => texts.set(id, (texts.get(id) ?? '') + piece));
    const started = await Promise.all([1, 2, 3].map((n) => tasks.start(`for i in {1..50}; do echo "${n} $i"; done`)));
    for (const task of started) {
      const check = await settles(tasks.wait(task.id));
      expect(check.newLines).toBe(50);
      await until(() => texts.get(task.id) === check.output);
    }
  });

  test('whole characters, and an unfinished line', async () => {
    const tasks = registry();
    const pieces: string[] = [];
    tasks.on('output', (_, piece) => pieces.push(piece));
    const text = 'é—😀漢\n'.repeat(5);
    const cwd = folder();
    await tasks.start(`${drip(everyByte(text)).replace(/exit 0$/, '')}printf 'Name? '; ${gate()}`, { cwd });
    await until(() => pieces.join('') === `${text}Name? `);
    expect(pieces.some((piece) => piece.includes('\uFFFD') || piece === '')).toBe(false);
    open(cwd);
  });

  test('comes before the `exit` of its task', async () => {
    const tasks = registry();
    const events: string[] = [];
    tasks.on('output', () => events.push('output'));
    tasks.on('exit', () => events.push('exit'));
    await tasks.start('echo hi');
    await until(() => events.includes('exit'));
    expect(events).toEqual(['output', 'exit']);
  });

  test('a slow listener loses nothing', async () => {
    const tasks = registry();
    let length = 0;
    tasks.on('output', (_, piece) => {
      length += piece.length;
      const end = performance.now() + 2;
      while (performance.now() < end);
    });
    const task = await tasks.start('seq 300000');
    await ended(tasks, task);
    await until(() => length >= seq(1, 300_000).length, 'all of it', 60_000);
    expect(length).toBe(seq(1, 300_000).length);
  });
});

test('unknown events and invalid listeners', async () => {
  const tasks = registry();
  for (const call of [
    () => tasks.on('end' as 'exit', () => {}),
    () => tasks.on('exit', 7 as never),
    () => tasks.off('end' as 'exit', () => {}),
  ]) {
    expect(await rejection(async () => call())).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  }
});

test('an event reaches a host that waits for something else', async () => {
  const one = tasksHost(
    {},
    `registry.on('exit', (task) => { say(task); clearInterval(timer); });
     const timer = setInterval(() => {}, 1000);
     await registry.start('sleep .2; exit 4');`,
  );
  expect(await said(one)).toMatchObject({ state: 'exited', exitCode: 4 });
  expect((await one.ended()).code).toBe(0);
});
