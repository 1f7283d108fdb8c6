import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { BackgroundRegistry, bash, type ObservedExit, type ObservedUndo } from 'agent-bash';
import { expect, onTestFinished } from 'vitest';
import { linuxTest } from '../support/index.ts';
import { Site } from './support.ts';

/** The messages of a channel, until the end of the test. */
function listen<T>(name: string): T[] {
  const told: T[] = [];
  const add = (message: unknown) => void told.push(message as T);
  subscribe(name, add);
  onTestFinished(() => void unsubscribe(name, add));
  return told;
}

linuxTest('the end of a run has its id, its receipt and its undo, and an undo is published', async () => {
  const exits = listen<ObservedExit>('agent-bash:exit');
  const undos = listen<ObservedUndo>('agent-bash:undo');
  const site = new Site();
  site.write('a');
  const { runId, receipt, undo } = await site.run('rm a');
  expect(exits).toMatchObject([{ runId, receipt, undo }]);
  await site.undo(runId, { dryRun: true });
  expect(undos).toEqual([]);
  const undone = await site.undo(runId);
  expect(undos).toEqual([undone]);
  expect(undos[0]).not.toBe(undone);
});

linuxTest('the end of a task has the id, the receipt and the undo of its check', async () => {
  const exits = listen<ObservedExit>('agent-bash:exit');
  const site = new Site();
  site.write('a');
  await using registry = new BackgroundRegistry();
  const undo = { when: 'always', dir: site.dir } as const;
  const task = await registry.start('rm a', { cwd: site.cwd, undo });
  const check = await registry.wait(task.id);
  const { runId, receipt } = check;
  expect(receipt?.counts.deleted).toBe(1);
  await expect.poll(() => exits).toMatchObject([{ kind: 'task', runId, receipt, undo: check.undo }]);
});

linuxTest('without the options they are null', async () => {
  const exits = listen<ObservedExit>('agent-bash:exit');
  const { runId } = await bash('true');
  expect(exits).toMatchObject([{ runId, receipt: null, undo: null }]);
});
