import { expect, test } from 'vitest';
import { finished, folder, linuxTest, until } from '../support/index.ts';
import { endTasks, Hosts, TERMINAL } from './support.ts';

test('limitMs and idleMs of a command are its options, or else the limit of its mode and null', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`
    for (const options of [{ timeoutMs: 70_000, idleTimeoutMs: 60_000 }, { mode: 'slow' }, {}]) {
      bash('exec sleep 1000', options).catch(() => {});
    }
    setInterval(() => {}, 1e6);`);
  const client = await hosts.client(host);
  await client.watch();
  await until(() => client.runs().length === 3, 'three runs');
  const limits = client.runs().map(({ limitMs, idleMs }) => [limitMs, idleMs]);
  expect(limits.sort()).toEqual([
    [30_000, null],
    [70_000, 60_000],
    [900_000, null],
  ]);
  for (const { size, confinement } of client.runs()) expect([size, confinement]).toEqual([null, null]);
});

test('limitMs and idleMs of a task are known to other processes, too', async () => {
  const hosts = new Hosts();
  const dir = folder();
  finished(() => endTasks(dir));
  const registry = `
    import { BackgroundRegistry } from 'agent-bash';
    globalThis.registry = new BackgroundRegistry({ dir: ${JSON.stringify(dir)} });
    setInterval(() => {}, 1e6);`;
  const first = hosts.start(`${registry}
    await registry.start('exec sleep 1000', { timeoutMs: 50_000, idleTimeoutMs: 40_000 });
    console.log('started');`);
  await first.says(/started/);
  const other = hosts.start(`${registry} await bash('true');`);
  for (const host of [first, other]) {
    const client = await hosts.client(host);
    const limits = { limitMs: 50_000, idleMs: 40_000 };
    expect(await client.only()).toMatchObject({ kind: 'task', ...limits, confinement: null, size: null });
  }
});

linuxTest('confinement is the profile of a command and of a task', async () => {
  const hosts = new Hosts();
  const cwd = JSON.stringify(folder());
  const host = hosts.start(`
    import { BackgroundRegistry } from 'agent-bash';
    const registry = new BackgroundRegistry();
    globalThis.registry = registry;
    bash('exec sleep 1000', { cwd: ${cwd}, confine: 'read-only' }).catch(() => {});
    await registry.start('exec sleep 1000', { cwd: ${cwd}, confine: 'workspace' });
    setInterval(() => {}, 1e6);`);
  const client = await hosts.client(host);
  await client.watch();
  await until(() => client.runs().filter(({ pid }) => pid).length === 2, 'two runs');
  const profiles = client.runs().map(({ kind, confinement }) => [kind, confinement]);
  expect(profiles.sort()).toEqual([
    ['command', 'read-only'],
    ['task', 'workspace'],
  ]);
});

test('size is that of the terminal, before and after a change', async () => {
  const hosts = new Hosts();
  const host = hosts.start(TERMINAL);
  const client = await hosts.client(host);
  expect(await client.only()).toMatchObject({ kind: 'terminal', size: [40, 5], limitMs: null, idleMs: null });
  host.process.kill('SIGUSR1');
  await client.run(({ size }) => `${size}` === '50,9');
});

test('processes is the number of living processes of the tree', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`
    bash('sleep 1000 & sleep 1000 & (sleep 1000; true) & read line < <(sleep 1000)').catch(() => {});
    setInterval(() => {}, 1e6);`);
  const client = await hosts.client(host);
  await client.watch();
  // The shell, its four children, and the child of one of them.
  await client.run(({ processes }) => processes === 6);
});
