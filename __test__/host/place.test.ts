import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { finished, folder, host, isRoot, linuxTest, processes, remove, testNeeding } from '../support/index.ts';
import { Hosts, IDLE, socketsOf } from './support.ts';

const NOBODY = 65534;
const INNER = 'bash[Object.getOwnPropertySymbols(bash)[0]]';
const modeOf = (path: string) => statSync(path).mode & 0o777;

test('the directories are private, and the socket has a name of the pid', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`${IDLE} console.log(${INNER}.hostsDirectory());`);
  await hosts.listens(host);
  expect(hosts.names()).toEqual([`${host.pid}.sock`]);
  expect(lstatSync(hosts.socket(host)).isSocket()).toBe(true);
  expect([modeOf(hosts.directory), modeOf(join(hosts.directory, '..'))]).toEqual([0o700, 0o700]);
  await host.says(new RegExp(`^${hosts.directory}\n`));
});

test('a host listens from its first command on, not from its start', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`
    console.log(${INNER}.hostsDirectory());
    setTimeout(() => bash('sleep 1000').catch(() => {}), 500);`);
  await host.says(/hosts/);
  expect(readdirSync(hosts.runtime)).toEqual([]);
  await hosts.listens(host);
});

describe('the socket is removed', () => {
  test.each([
    ['when the host has nothing left to do', ''],
    ['by process.exit', 'process.exit(0);'],
    ['by an uncaught error', 'throw new Error("x");'],
  ])('%s', async (_, end) => {
    const hosts = new Hosts();
    const host = hosts.start(`await bash('true'); ${end}`);
    await host.ended();
    expect(hosts.names()).toEqual([]);
  });

  test('by the next host, after a kill', async () => {
    const hosts = new Hosts();
    const dead = hosts.start(IDLE);
    await hosts.listens(dead);
    dead.process.kill('SIGKILL');
    await dead.ended();
    expect(hosts.names()).toEqual([`${dead.pid}.sock`]);
    const next = hosts.start(IDLE);
    await hosts.listens(next);
    expect(hosts.names()).toEqual([`${next.pid}.sock`]);
  });

  test('not by a worker that ends', async () => {
    const hosts = new Hosts();
    const host = hosts.start(`
      import { Worker } from 'node:worker_threads';
      const work = "import('agent-bash').then(({ bash }) => bash('true'))";
      const worker = () => new Promise((resolve) => new Worker(work, { eval: true }).on('exit', resolve));
      ${IDLE}
      await worker();
      console.log('ended');`);
    const client = await hosts.client(host);
    await host.says(/ended/);
    expect(await client.request({ do: 'watch' })).toMatchObject({ ok: true });
    await hosts.client(host);
  });
});

test('a link in place of a directory is refused, and commands run', async () => {
  const hosts = new Hosts();
  const elsewhere = folder();
  symlinkSync(elsewhere, join(hosts.runtime, 'agent-bash'));
  const host = hosts.start(`
    console.log((await bash('echo ran')).stdout, ${INNER}.hostsDirectory());`);
  await host.says(/^ran\n null/);
  await host.ended();
  expect(readdirSync(elsewhere)).toEqual([]);
});

testNeeding('root', isRoot)('a directory of another user is refused, and commands run', async () => {
  const hosts = new Hosts();
  const own = join(hosts.runtime, 'agent-bash');
  mkdirSync(own);
  spawnSync('chown', [`${NOBODY}`, own]);
  const host = hosts.start(`console.log((await bash('echo ran')).stdout, ${INNER}.hostsDirectory());`);
  await host.says(/^ran\n null/);
  await host.ended();
  expect(readdirSync(own)).toEqual([]);
});

test('without a private runtime directory, hosts of any environment meet below /tmp', async () => {
  const open = folder();
  chmodSync(open, 0o755);
  const say = `console.log(${INNER}.hostsDirectory());`;
  const said = [open, 'relative', '/no/such', ''].map(async (XDG_RUNTIME_DIR) => {
    const one = host(say, { env: { XDG_RUNTIME_DIR, TMPDIR: folder(), HOME: folder() } });
    await one.ended();
    return one.stdout();
  });
  const places = new Set(await Promise.all(said));
  expect(places.size).toBe(1);
  const uid = process.getuid?.();
  expect([`/tmp/agent-bash-${uid}/hosts\n`, `/run/user/${uid}/agent-bash/hosts\n`]).toContain([...places][0]);
});

linuxTest('no other process has the socket, or a connection', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`
    import { spawn } from 'node:child_process';
    ${IDLE}
    process.on('SIGUSR1', () => {
      bash('exec sleep 1001').catch(() => {});
      spawn('cat');
      setTimeout(() => console.log('started'), 500);
    });`);
  const client = await hosts.client(host);
  host.process.kill('SIGUSR1');
  await host.says(/started/);
  await client.watch();
  const inode = socketsOf(host).find(({ listens }) => listens)?.inode;
  expect(inode).toMatch(/^\d+$/);
  const holders = processes().filter(({ pid }) => {
    try {
      const fds = readdirSync(`/proc/${pid}/fd`);
      return fds.some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`);
    } catch {
      return false;
    }
  });
  expect(holders.map(({ pid }) => pid)).toEqual([host.pid]);
  // A descendant of the host that has more sockets than another one would have a connection.
  const { key } = await client.run((run) => run.command.includes('1001'));
  const pid = client.runs().find((run) => run.key === key)?.pid;
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  expect(links.filter((link) => link.startsWith('socket:'))).toEqual([]);
});

describe('another user', () => {
  const asNobody = testNeeding('root', isRoot);
  const CONNECT = `
    const socket = require('node:net').connect(process.argv[1]);
    socket.on('error', ({ code }) => console.log(code));
    socket.on('data', (data) => console.log('data ' + data));
    socket.on('connect', () => { console.log('connected'); socket.write('{"hello":1,"control":true}\\n'); });`;

  function attack(path: string) {
    const child = spawn('/usr/bin/env', ['node', '-e', CONNECT, path], {
      uid: NOBODY,
      gid: NOBODY,
      cwd: '/',
      env: { PATH: process.env.PATH },
    });
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
    });
    return new Promise<string>((resolve) => child.on('close', () => resolve(said)));
  }

  asNobody('does not reach the socket', async () => {
    const hosts = new Hosts();
    const host = hosts.start(IDLE);
    await hosts.listens(host);
    chmodSync(hosts.runtime, 0o755);
    expect(await attack(hosts.socket(host))).toBe('EACCES\n');
  });

  asNobody('that reaches it in spite of its directory learns nothing', async () => {
    const hosts = new Hosts();
    const host = hosts.start(IDLE);
    await hosts.listens(host);
    const parts = [hosts.runtime, join(hosts.runtime, 'agent-bash'), hosts.directory];
    for (const path of parts) chmodSync(path, 0o755);
    chmodSync(hosts.socket(host), 0o777);
    expect(await attack(hosts.socket(host))).toMatch(/^connected\n(EPIPE\n|ECONNRESET\n)?$/);
  });
});

linuxTest('a confined command does not see the sockets', async () => {
  // A directory that such a command sees, unlike those below /tmp.
  const runtime = mkdtempSync(join(homedir(), '.agent-bash-test-'));
  finished(() => remove(runtime));
  writeFileSync(join(runtime, 'seen'), '');
  const list = (confine: string) =>
    `console.log((await bash('ls -A $XDG_RUNTIME_DIR{,/agent-bash,/agent-bash/hosts}', { confine: ${confine} })).stdout);`;
  // The first world is made before there is a socket.
  const source = [list('"workspace"'), list('"workspace"'), "console.log('---');", list('"off"')].join('\n');
  const running = host(source, { env: { XDG_RUNTIME_DIR: runtime } });
  await running.ended();
  const [confined, off] = running.stdout().split('---');
  expect(confined?.match(/seen/g)).toHaveLength(2);
  expect(confined).not.toContain('.sock');
  expect(off).toContain(`${running.pid}.sock`);
});
