import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BackgroundCheck, BackgroundRegistry, type BashOptions, bash } from 'agent-bash';
import { describe, expect, onTestFinished } from 'vitest';
import { folder, hostResult, linuxTest, until } from '../support/index.ts';
import { Site } from '../undo/support.ts';

/** A registry that is closed after the test. */
function registry(options: { dir?: string } = {}): BackgroundRegistry {
  const made = new BackgroundRegistry(options);
  onTestFinished(() => made.close());
  return made;
}

/** The runs with a record in a store. */
function recorded(site: Site): string[] {
  const points = join(site.dir, 'points');
  return existsSync(points) ? readdirSync(points) : [];
}

const WAYS: [string, (site: Site) => BashOptions][] = [
  ['watch', () => ({ receipt: 'watch' })],
  ['exact', () => ({ receipt: 'exact' })],
  ['undo', (site) => ({ undo: { when: 'always', dir: site.dir } })],
];

describe('a task', () => {
  for (const [name, options] of WAYS) {
    linuxTest(`has its receipt once it has ended: ${name}`, async () => {
      const site = new Site();
      const tasks = registry();
      await site.watched();
      const task = await tasks.start('echo 1 > made; until [ -e go ]; do sleep 0.02; done', {
        cwd: site.cwd,
        ...options(site),
      });
      const running = await tasks.check(task.id);
      expect([running.receipt, running.undo]).toEqual([null, null]);
      site.write('go');
      const ended: BackgroundCheck = await tasks.wait(task.id, { timeoutMs: 20_000 });
      expect(site.changes(ended.receipt).created).toContain('made');
      expect(ended.runId).toMatch(/^\d+-/);
      expect(ended.undo?.covers).toBe(name === 'undo' ? 'all' : undefined);
      const again = await tasks.check(task.id);
      expect([again.runId, again.receipt]).toEqual([ended.runId, ended.receipt]);
    });
  }

  linuxTest('that was moved at its limit has one receipt, of the whole run', async () => {
    for (const [name, options] of WAYS) {
      const site = new Site();
      const tasks = registry();
      await site.watched();
      const command = 'echo 1 > first; while [ ! -e go ]; do sleep 0.02; done; echo 2 > second';
      const moved = await bash(command, {
        cwd: site.cwd,
        timeoutMs: 300,
        onTimeout: 'background',
        registry: tasks,
        ...options(site),
      } as BashOptions);
      expect([moved.status, moved.receipt, moved.undo], name).toEqual(['backgrounded', null, null]);
      site.write('go');
      const ended = await tasks.wait(moved.background?.id ?? '', { timeoutMs: 20_000 });
      expect(ended.runId, name).toBe(moved.runId);
      expect(site.changes(ended.receipt).created, name).toEqual(expect.arrayContaining(['first', 'second']));
    }
  });

  linuxTest('of another host has its receipt, too', async () => {
    const site = new Site();
    const dir = folder();
    const first = registry({ dir });
    const task = await first.start('echo 1 > made', { cwd: site.cwd, undo: { when: 'always', dir: site.dir } });
    await first.wait(task.id, { timeoutMs: 20_000 });
    const own = await first.check(task.id);
    const second = registry({ dir });
    const seen = await second.check(task.id);
    expect(site.changes(seen.receipt).created).toEqual(['made']);
    expect([seen.runId, seen.receipt, seen.undo]).toEqual([own.runId, own.receipt, own.undo]);
    await site.undo(seen.runId ?? '');
    expect(site.tree()).toEqual({ '.': expect.any(String) });
  });
});

linuxTest(
  'a watched task of another process has its receipt, and an unknown one if that process was killed',
  async () => {
    const site = new Site();
    const dir = folder();
    const program = (command: string, then: string) => `
    import { BackgroundRegistry } from 'agent-bash';
    const [cwd, dir] = ${JSON.stringify([site.cwd, dir])};
    await bash('true', { cwd, receipt: 'watch' });
    const registry = new BackgroundRegistry({ dir });
    const task = await registry.start(${JSON.stringify(command)}, { cwd, receipt: 'watch' });
    ${then}
    console.log(JSON.stringify(task.id));`;
    const told = await hostResult(program('echo 1 > made', 'await registry.wait(task.id);'));
    const tasks = registry({ dir });
    const seen = await tasks.check(told as string);
    expect(seen.receipt?.attribution).toBe('window');
    expect(site.changes(seen.receipt).created).toEqual(['made']);
    const left = await hostResult(program('until [ -e go ]; do sleep 0.02; done; echo 2 > more', ''));
    site.write('go');
    const ended = await tasks.wait(left as string, { timeoutMs: 20_000 });
    expect(ended.receipt).toMatchObject({ state: 'unknown', why: expect.stringContaining('has not said') });
  },
);

linuxTest('survivors that become a task make the receipt partial, and it is told again with the task', async () => {
  const site = new Site();
  const tasks = registry();
  const { receipt, survivors, runId } = await bash('echo 1 > made; sleep 30 &', {
    cwd: site.cwd,
    registry: tasks,
    receipt: 'exact',
  });
  expect(receipt).toMatchObject({ state: 'partial', why: expect.stringContaining('sleep 30') });
  expect(site.changes(receipt).created).toEqual(['made']);
  const id = survivors[0]?.taskId ?? '';
  const ended = await tasks.kill(id);
  expect(ended.runId).toBe(runId);
  expect(site.changes(ended.receipt).created).toEqual(['made']);
});

linuxTest('the record of a receipt goes once it is read', async () => {
  const site = new Site();
  const { receipt } = await bash('echo 1 > made', {
    cwd: site.cwd,
    receipt: 'exact',
    undo: { when: 'risky', dir: site.dir },
  });
  expect(receipt?.attribution).toBe('command');
  await until(() => recorded(site).length === 0);
});
