import { describe, expect, test } from 'vitest';
import { alive, until } from '../support/index.ts';
import { Hosts, IDLE } from './support.ts';

test('a client sees what runs, then what changes', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`
    ${IDLE}
    const actor = { agent: 'builder', session: 's1' };
    process.stdin.resume();
    process.on('SIGUSR1', () => bash('echo one; sleep 0.3; echo two >&2; exit 3', { cwd: '/', actor }));`);
  const client = await hosts.client(host);
  expect(await client.request({ do: 'watch' })).toMatchObject({ ok: true });
  const first = await client.run((run) => run.lastLine === 'begun');
  expect(first).toMatchObject({
    kind: 'command',
    command: 'echo begun; exec sleep 1000',
    state: 'running',
    waiting: null,
    actor: null,
    taskId: null,
    pid: expect.any(Number),
  });
  host.process.kill('SIGUSR1');
  const second = await client.run((run) => run.key !== first.key);
  expect(second).toMatchObject({ cwd: '/', actor: { agent: 'builder', session: 's1' } });
  expect(await client.end(second.key)).toMatchObject({ state: 'exited', exitCode: 3, signal: null });
  expect(client.runs().map(({ key }) => key)).toEqual([first.key]);
  expect(client.messages.filter(({ state }) => state)).toHaveLength(1);
});

test('a command that began and ended between two snapshots is reported, too', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`${IDLE} process.on('SIGUSR1', () => bash('exit 7'));`);
  const client = await hosts.client(host);
  await client.watch();
  host.process.kill('SIGUSR1');
  const end = await client.message(({ change }) => change?.ended[0]);
  expect(end).toMatchObject({ state: 'exited', exitCode: 7 });
  const runs = client.messages.flatMap(({ change }) => change?.runs ?? []);
  expect(runs.some(({ key }) => key === end.key)).toBe(true);
});

test('a command is shown without its secrets', async () => {
  const hosts = new Hosts();
  const host = hosts.start(
    `bash('TOKEN_X=1 curl -u joe:hunter2hunter2 http://127.0.0.1:1/; sleep 1000').catch(() => {});`,
  );
  const client = await hosts.client(host);
  await client.watch();
  await until(() => client.runs().length === 1, 'the run');
  expect(client.runs()[0]?.command).toBe('TOKEN_X=1 curl -u joe:[redacted] http://127.0.0.1:1/; sleep 1000');
  expect(JSON.stringify(client.runs())).not.toContain('hunter2');
});

test('each kind of run is reported', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`
    import { BackgroundRegistry, BashSession, PtySession } from 'agent-bash';
    const ignore = () => {};
    const run = 'sleep 1000';
    bash(run).catch(ignore);
    new BashSession().run(run).catch(ignore);
    const pty = new PtySession();
    pty.start(run).catch(ignore);
    const registry = new BackgroundRegistry();
    const task = await registry.start(run);
    console.log(task.id);
    setInterval(ignore, 1e6);`);
  const [id] = await host.says(/t[0-9a-f]{12}/);
  const client = await hosts.client(host, true);
  await client.watch();
  await until(() => client.runs().length === 4, 'four runs');
  expect(
    client
      .runs()
      .map(({ kind, stdin }) => [kind, stdin])
      .sort(),
  ).toEqual([
    ['command', false],
    ['session', false],
    ['task', false],
    ['terminal', true],
  ]);
  const task = client.runs().find(({ kind }) => kind === 'task');
  expect(task).toMatchObject({ key: id, taskId: id });
  for (const { key } of client.runs()) {
    expect((await client.request({ do: 'stop', run: key })).ok).toBe(true);
    expect((await client.end(key)).state).toBe('aborted');
  }
});

describe('a host that is stuck in JavaScript', () => {
  const STUCK = `
    const one = bash('echo begun; sleep 1000 & echo $!; wait');
    one.catch(() => {});
    setTimeout(() => { console.log('stuck'); while (true); }, 500);`;

  test('is seen, and its command can be followed and stopped', async () => {
    const hosts = new Hosts();
    const host = hosts.start(STUCK);
    await host.says(/stuck/);
    const client = await hosts.client(host, true);
    await client.watch();
    const { key, pid } = await client.run((run) => run.pid);
    await client.follow(key);
    const child = Number(await until(() => /begun\n(\d+)\n/.exec(client.text(key))?.[1]));
    expect(alive(child)).toBe(true);
    expect(await client.request({ do: 'stop', run: key })).toMatchObject({ ok: true });
    expect(await client.end(key)).toMatchObject({ state: 'aborted' });
    await until(() => !alive(pid) && !alive(child), 'the tree is gone');
    expect(client.outputs(key).at(-1).end).toBe(true);
  });
});

test('the caller of a command that was stopped gets its end', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`
    const { aborted, stdout } = await bash('echo begun; sleep 1000');
    console.log(JSON.stringify({ aborted, stdout }));`);
  const client = await hosts.client(host, true);
  await client.watch();
  const { key } = await client.run((run) => run.lastLine === 'begun');
  await client.request({ do: 'stop', run: key });
  await host.says(/"stdout":"begun/);
  expect((await host.ended()).code).toBe(0);
});

test('a client without watch hears nothing', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`${IDLE} for (let at = 0; at < 3; at++) await bash('echo x'); console.log('done');`);
  const client = await hosts.client(host);
  await host.says(/done/);
  await client.request({ do: 'unfollow', run: 'c1' });
  expect(client.messages).toHaveLength(2);
});
