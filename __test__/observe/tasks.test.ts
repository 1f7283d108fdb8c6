import { BackgroundRegistry, bash } from 'agent-bash';
import { expect, onTestFinished, test } from 'vitest';
import { folder, rejection } from '../support/index.ts';
import { listen } from './support.ts';

function registryOf(dir?: string): BackgroundRegistry {
  const registry = new BackgroundRegistry({ dir });
  onTestFinished(async () => {
    if (dir !== undefined) await registry.killAll().catch(() => {});
    await registry.close();
  });
  return registry;
}

test('a task tells of its start, its output and its end', async () => {
  const { told, hears } = listen();
  const registry = registryOf();
  const cwd = folder();
  const command = 'echo one; sleep .1; echo two; exit 3';
  const { id, pid } = await registry.start(command, { cwd });
  await hears('exit');
  const shared = { id, kind: 'task', pid, target: null };
  expect(told[0]).toEqual({ name: 'start', ...shared, command, args: [], cwd });
  expect(told.slice(1, -1).map(({ name, id, stream }) => [name, id, stream])).toEqual(
    told.slice(1, -1).map(() => ['output', id, 'stdout']),
  );
  expect(
    told
      .slice(1, -1)
      .map(({ text }) => text)
      .join(''),
  ).toBe('one\ntwo\n');
  expect(told.at(-1)).toMatchObject({
    ...{ name: 'exit', ...shared, status: 'exited', exitCode: 3, signal: null },
    ...{ timeoutMs: null, taskId: null, usage: null, survivors: [], notes: [] },
  });
  expect(told.at(-1)?.durationMs).toBeGreaterThanOrEqual(100);
});

test('kill by pid or id, and close, report the tasks they end', async () => {
  const { of, hears } = listen();
  const registry = registryOf();
  const [one, two, three] = [
    await registry.start('sleep 300'),
    await registry.start('sleep 300'),
    await registry.start('sleep 300'),
  ];
  await registry.kill(one.pid);
  await registry.kill(two.id);
  await registry.kill(two.id);
  expect(of('kill').map(({ id, reason }) => [id, reason])).toEqual([
    [one.id, 'kill'],
    [two.id, 'kill'],
  ]);
  await registry.close();
  expect(of('kill')[2]).toMatchObject({ id: three.id, reason: 'close' });
  await hears('exit', ({ id }) => id === three.id);
  expect(of('exit').every(({ status, signal }) => status === 'killed' && signal === 'SIGTERM')).toBe(true);
  expect(of('start')).toHaveLength(3);
});

test('a command that moves to the background ends as one thing and goes on as another', async () => {
  const { told, hears } = listen('start', 'exit', 'kill', 'output');
  const registry = registryOf(folder());
  const result = await bash('echo early; sleep 3; echo late', { registry, timeoutMs: 1_500 });
  const taskId = result.background?.id;
  await hears('exit', ({ id }) => id === taskId);
  const [begin] = told;
  const seen = told.map(({ name, kind }) => `${kind} ${name}`);
  expect(seen.filter((one) => !one.endsWith('output'))).toEqual([
    ...['command start', 'command exit', 'task start', 'task exit'],
  ]);
  expect(told.find(({ name, kind }) => name === 'exit' && kind === 'command')).toMatchObject({
    ...{ id: begin?.id, status: 'backgrounded', exitCode: null, taskId },
  });
  const late = told.filter(({ name, kind }) => name === 'output' && kind === 'task').map(({ text }) => text);
  expect(late.join('')).toMatch(/late\n$/);
  expect(told.at(-1)).toMatchObject({ name: 'exit', kind: 'task', id: taskId, status: 'exited', exitCode: 0 });
});

test('mode background is a task from the beginning', async () => {
  const { told, hears } = listen('start', 'exit');
  const registry = registryOf();
  const { pid, background } = await bash('exit 4', { registry, mode: 'background' });
  await hears('exit');
  expect(told.map(({ name, id, kind, pid }) => ({ name, id, kind, pid }))).toEqual([
    { name: 'start', id: background?.id, kind: 'task', pid },
    { name: 'exit', id: background?.id, kind: 'task', pid },
  ]);
});

test('a refused task is reported as refused', async () => {
  const { told } = listen();
  const registry = registryOf();
  await rejection(() => registry.start('git push --force'));
  await rejection(() => bash('git push --force', { registry, mode: 'background' }));
  expect(told.map(({ name, kind, command }) => [name, kind, command])).toEqual([
    ['block', 'task', 'git push --force'],
    ['block', 'task', 'git push --force'],
  ]);
});

test('listeners of the registry receive the same with and without subscribers to the channels', async () => {
  const registry = registryOf();
  const heard: string[] = [];
  const ended: string[] = [];
  registry.on('output', (_, text) => void heard.push(text));
  registry.on('exit', ({ id }) => void ended.push(id));
  const { of, hears } = listen();
  const { id } = await registry.start('seq 5');
  await hears('exit');
  expect(heard.join('')).toBe('1\n2\n3\n4\n5\n');
  expect(
    of('output')
      .map(({ text }) => text)
      .join(''),
  ).toBe('1\n2\n3\n4\n5\n');
  expect(ended).toEqual([id]);
});
