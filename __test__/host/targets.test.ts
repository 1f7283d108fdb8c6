import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addressOf, alive, cutLink, folder, linuxTest, until } from '../support/index.ts';
import { Hosts, type Message } from './support.ts';

/** The first lines of a host that has connected to a target. */
const connected = (home: string) => `
  import { BackgroundRegistry, BashSession, connect, PtySession, TargetPool } from 'agent-bash';
  const target = await connect(${JSON.stringify({ ...addressOf(home), name: 'there' })});
  setInterval(() => {}, 1e6);`;

test('a command on a target is shown with it, its output is followed, and a person stops it', async () => {
  const hosts = new Hosts();
  const home = folder();
  const host = hosts.start(`${connected(home)}
    const command = "echo held; until [ -e go ]; do sleep 0.05; done; printf '\\\\e[31mlive\\\\e[0m\\\\n'; exec sleep 1000";
    const ran = await bash(command, { target, actor: { agent: 'builder' } });
    console.log(JSON.stringify([ran.status, ran.notes]));`);
  const client = await hosts.client(host, true);
  await client.watch();
  const run = await client.run((run) => run.lastLine === 'held');
  expect(run).toMatchObject({
    kind: 'command',
    target: 'there',
    cwd: home,
    actor: { agent: 'builder' },
    state: 'running',
    pid: null,
    processes: null,
    cpuMs: null,
    memory: null,
    ports: [],
  });
  await client.follow(run.key);
  await until(() => client.text(run.key) === 'held\n', 'the held output');
  writeFileSync(`${home}/go`, '');
  await until(() => client.text(run.key).endsWith('live\n'), 'the new output');
  expect(await client.request({ do: 'stop', run: run.key })).toMatchObject({ ok: true });
  expect(await client.end(run.key)).toMatchObject({ state: 'aborted', cause: 'page' });
  await host.says(/\["aborted",\[".*a person has stopped the command on the page/);
});

test('the output of a command is followed that people watch since it waited for its turn', async () => {
  const hosts = new Hosts();
  const home = folder();
  const host = hosts.start(`${connected(home)}
    const session = new BashSession({ target });
    session.run('until [ -e go ]; do sleep 0.05; done').catch(() => {});
    await session.run('echo in turn; exec sleep 1000');`);
  const client = await hosts.client(host, true);
  await client.watch();
  const { key } = await client.run((run) => run.command.includes('in turn'));
  await client.follow(key);
  // What the target is told before this has an effect by now.
  await client.run((run) => run.command.startsWith('until') && run.state === 'running');
  writeFileSync(`${home}/go`, '');
  await until(() => client.text(key) === 'in turn\n', 'the output of the second command');
  expect(await client.request({ do: 'stop', run: key })).toMatchObject({ ok: true });
  expect(await client.end(key)).toMatchObject({ state: 'aborted' });
});

test('a person who watches holds no command up, also while the link is cut', async () => {
  const hosts = new Hosts();
  const home = folder();
  const host = hosts.start(`${connected(home)}
    const command = 'echo begun; until [ -e go ]; do sleep 0.05; done; head -c 32M /dev/zero | tr "\\\\0" x; touch done';
    const { status, notes } = await bash(command, { target });
    console.log(JSON.stringify([status, notes]));`);
  const client = await hosts.client(host);
  await client.watch();
  const { key } = await client.run((run) => run.lastLine === 'begun');
  await client.follow(key);
  writeFileSync(`${home}/down`, '');
  cutLink(home, host.pid);
  writeFileSync(`${home}/go`, '');
  await until(() => existsSync(`${home}/done`), 'the command goes on');
  rmSync(`${home}/down`);
  const [told] = await host.says(/\["exited".*/);
  expect(told).not.toContain('onOutput');
});

test('a session, a terminal and a task on a target each have their kind, and a terminal takes input', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`${connected(folder())}
    const session = new BashSession({ target });
    session.run('echo in a session; exec sleep 1001').catch(() => {});
    const terminal = new PtySession({ target, cols: 40, rows: 5 });
    terminal.start('read -rp "Name: " name; echo "got $name"; exec sleep 1002').catch(() => {});
    const tasks = new BackgroundRegistry({ target });
    await tasks.start('exec sleep 1003');
    console.log('READY');`);
  await host.says(/READY/);
  const client = await hosts.client(host, true);
  await client.watch();
  const named = (text: string) => client.run((run) => run.command.includes(text));
  expect(await named('1001')).toMatchObject({ kind: 'session', target: 'there' });
  const terminal = await named('1002');
  expect(terminal).toMatchObject({ kind: 'terminal', target: 'there', size: [40, 5], pid: null });
  await client.follow(terminal.key);
  const shows = (text: string) =>
    client.message(({ screen }) => screen?.lines.some((line: string) => line.includes(text)));
  await shows('Name:');
  expect(await client.request({ do: 'input', run: terminal.key, text: 'joe\n' })).toMatchObject({ ok: true });
  await shows('got joe');
  const task = await named('1003');
  expect(task).toMatchObject({ kind: 'task', target: 'there', pid: null, processes: null });
  expect(await client.request({ do: 'stop', run: task.key })).toMatchObject({ ok: true });
  expect(await client.end(task.key)).toMatchObject({ state: 'aborted' });
});

test('a command that cannot be started on its target is shown as refused', async () => {
  const hosts = new Hosts();
  const home = folder();
  const host = hosts.start(`${connected(home)}
    process.on('SIGUSR1', () => bash('true', { target, cwd: 'nowhere' }).catch(({ code }) => console.log(code)));
    bash('exec sleep 1000', { target }).catch(() => {});`);
  const client = await hosts.client(host);
  await client.watch();
  await client.run((run) => run.command.includes('1000'));
  host.process.kill('SIGUSR1');
  await host.says(/ERR_BASH_CWD_NOT_FOUND/);
  const { key } = await client.message(({ change }) => change?.runs.find((run: Message) => run.command === 'true'));
  expect(await client.end(key)).toMatchObject({ state: 'refused' });
});

test('a watched pool reports its places until it is closed', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`${connected(folder())}
    const pool = new TargetPool({ targets: [target, { command: ['false'], name: 'other' }], perTarget: 3 });
    process.on('SIGUSR1', () => pool.close());
    bash('exec sleep 1000', { target: pool }).catch(() => {});`);
  const client = await hosts.client(host);
  await client.watch();
  const places = ({ state, change }: Message) => (state ?? change)?.pools[0]?.places;
  const busy = (message: Message) => places(message)?.some(({ running }: Message) => running === 1) && message;
  const { state, change } = await client.message(busy);
  const [pool] = (state ?? change).pools;
  expect(pool).toMatchObject({ key: 'p1', perTarget: 3, waiting: 0, count: 2, reportedAt: expect.any(Number) });
  expect(pool.places).toMatchObject([
    { id: 'there', state: 'connected', running: 1, queued: 0, brokenUntil: null },
    { id: 'other', state: 'new', running: 0 },
  ]);
  // It reports itself again, each second.
  await client.message((message) => message.change?.pools[0]?.reportedAt > pool.reportedAt);
  host.process.kill('SIGUSR1');
  await client.message((message) => message.change?.poolsGone.includes('p1'));
});

linuxTest('a pool that is dropped without close() is closed, and leaves the page', async () => {
  const hosts = new Hosts();
  const address = JSON.stringify({ ...addressOf(folder()), name: 'there' });
  const running = hosts.start(
    `
    import { TargetPool } from 'agent-bash';
    const use = async (pool) => {
      const { target, release } = await pool.acquire();
      release();
      return target.info.pid;
    };
    console.log('PID', await use(new TargetPool({ targets: [${address}] })));
    process.on('SIGUSR1', () => setInterval(gc, 20));
    setInterval(() => {}, 1e6);`,
    { execArgv: ['--expose-gc'] },
  );
  const [, pid] = await running.says(/PID (\d+)/);
  const client = await hosts.client(running);
  await client.watch();
  await client.message(({ state, change }) => (state ?? change)?.pools.some(({ key }: Message) => key === 'p1'));
  running.process.kill('SIGUSR1');
  await client.message((message) => message.change?.poolsGone.includes('p1'));
  await until(() => !alive(Number(pid)), 'the program there has ended');
});
