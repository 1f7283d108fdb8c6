import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, get, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  BackgroundRegistry,
  type BackgroundTask,
  BashSession,
  bash,
  type ConfineOptions,
  PtySession,
} from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folder, freePort, host, kill, until } from '../../support/index.ts';

function registry(dir?: string): BackgroundRegistry {
  const made = new BackgroundRegistry({ dir });
  onTestFinished(() => made.close());
  return made;
}

const node = (script: string) => `exec ${process.execPath} -e '${script}'`;
const serving = (port: number, address = '127.0.0.1') =>
  node(`require("net").createServer((s) => s.end("hi")).listen(${port}, "${address}")`);

/** A development server: pages, an event stream, and sockets of a browser. */
const devServer = (port: number) =>
  node(`const server = require("http").createServer((request, response) => {
    if (request.url !== "/events") return response.end(JSON.stringify({ url: request.url, host: request.headers.host }));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: one\\n\\n");
    request.on("close", () => server.close());
  });
  server.on("upgrade", (request, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\\r\\n");
    socket.pipe(socket);
  });
  server.listen(${port}, "127.0.0.1");`);

/** Whether something listens at a port of the host's loopback. Without a server in the world it resets connections. */
const connects = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.destroy());
    socket.on('close', () => resolve(true));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'));
  });

/**
 * The page of a server, over a connection of its own. Not with `fetch`: in Node 20 its first call in a process never
 * settles if the connection is reset while the parser is still loaded (undici 6.24.1, `connectH1`).
 */
async function page(port: number): Promise<string> {
  const [answer] = await once(get({ host: '127.0.0.1', port, agent: false }), 'response');
  return text(answer);
}

/** Waits until the forwarding port leads to a server. */
const reached = (port: number) => until(() => page(port).catch(() => null));

const waited = (tasks: BackgroundRegistry, { id }: BackgroundTask, port: number, timeoutMs = 20_000) =>
  tasks.wait(id, { port, timeoutMs });

describe.runIf(process.platform === 'linux')('wait({ port }) of a confined task', () => {
  test.each(['127.0.0.1', '0.0.0.0', '::1'])("sees a server of the world's loopback at %s", async (address) => {
    const [tasks, port] = [registry(), await freePort()];
    const task = await tasks.start(serving(port, address), { cwd: folder(), confine: 'workspace' });
    expect(await waited(tasks, task, port)).toMatchObject({ matched: true, task: { state: 'running' } });
    // The host itself does not reach it.
    const socket = connect(port, '127.0.0.1');
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  });

  test('sees a server that another command of the world has started', async () => {
    const [tasks, port, cwd] = [registry(), await freePort(), folder()];
    const idle = await tasks.start('sleep 300', { cwd, confine: 'workspace' });
    await tasks.start(serving(port), { cwd, confine: 'workspace' });
    expect((await waited(tasks, idle, port)).matched).toBe(true);
  });

  test('does not see a server of the host', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const tasks = registry();
    const open = await tasks.start('sleep 300', { cwd: folder() });
    expect((await waited(tasks, open, port)).matched).toBe(true);
    const confined = await tasks.start('sleep 300', { cwd: folder(), confine: 'workspace' });
    expect((await waited(tasks, confined, port, 500)).matched).toBe(false);
    const full = await tasks.start('sleep 300', { cwd: folder(), confine: { network: 'full' } });
    expect((await waited(tasks, full, port)).matched).toBe(true);
  });

  test('does so in another process that opens its registry', async () => {
    const [dir, cwd, port] = [folder(), folder(), await freePort()];
    const running = host(`
      import { BackgroundRegistry } from 'agent-bash';
      const tasks = new BackgroundRegistry({ dir: ${JSON.stringify(dir)} });
      const options = { cwd: ${JSON.stringify(cwd)}, confine: 'workspace' };
      const { pid } = await tasks.start(${JSON.stringify(serving(port))}, options);
      process.stdout.write('pid=' + pid + '\\n', () => process.exit(0));`);
    const pid = Number((await running.says(/^pid=(\d+)\n/m))[1]);
    onTestFinished(() => void kill(pid, 'SIGKILL'));
    await running.ended();
    expect((await registry(dir).wait(pid, { port, timeoutMs: 20_000 })).matched).toBe(true);
  });
});

/** A server of the host, and its port. */
async function occupied(): Promise<[Server, number]> {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return [server, (server.address() as { port: number }).port];
}

describe.runIf(process.platform === 'linux')('expose', () => {
  const exposing = async (confine: ConfineOptions = {}) => {
    const [tasks, port] = [registry(), await freePort()];
    const task = await tasks.start(devServer(port), { cwd: folder(), confine: { expose: [port], ...confine } });
    expect((await waited(tasks, task, port)).matched).toBe(true);
    await reached(port);
    return { tasks, port, task };
  };

  test.each(['127.0.0.1', 'localhost'])("answers a browser's request for %s", async (name) => {
    const { port } = await exposing();
    const answer = await fetch(`http://${name}:${port}/page?x=1`, { headers: { accept: 'text/html' } });
    expect(await answer.json()).toEqual({ url: '/page?x=1', host: `${name}:${port}` });
    const many = await Promise.all(Array.from({ length: 30 }, (_, n) => fetch(`http://${name}:${port}/${n}`)));
    expect(many.map(({ status }) => status)).toEqual(many.map(() => 200));
  });

  test('carries event streams and sockets of a browser', async () => {
    const { port } = await exposing({ network: { allow: ['example.org'] } });
    const upgrading = request({ port, headers: { connection: 'Upgrade', upgrade: 'websocket' } }).end();
    const [response, socket] = await once(upgrading, 'upgrade');
    expect(response.statusCode).toBe(101);
    socket.write('ping');
    expect(String((await once(socket, 'data'))[0])).toBe('ping');
    socket.destroy();
    const stream = get({ port, path: '/events' });
    const [events] = await once(stream, 'response');
    expect(String((await once(events, 'data'))[0])).toBe('data: one\n\n');
    stream.destroy();
  });

  test('forwards no other port, and none once its task has ended', async () => {
    const { tasks, port, task } = await exposing();
    const other = await freePort();
    await tasks.start(serving(other), { cwd: task.cwd, confine: { expose: [port] } });
    expect((await waited(tasks, task, other)).matched).toBe(true);
    await expect(page(other)).rejects.toThrow();
    await tasks.kill(task.id);
    await expect(page(port)).rejects.toThrow();
    await tasks.close();
    await until(() => connects(port).then((connected) => !connected));
  });

  test('forwards a port again at once, after another session has ended', async () => {
    const [cwd, port] = [folder(), await freePort()];
    for (let round = 0; round < 10; round++) {
      await using session = new BashSession({ cwd, confine: { expose: [port] } });
      expect((await session.run('true')).exitCode).toBe(0);
      expect(await connects(port)).toBe(true);
    }
  });

  const refusal = (port: number) => ({
    code: 'ERR_BASH_CONFINEMENT',
    missing: [
      {
        part: 'network',
        why: expect.stringContaining(`port ${port} of the host's loopback cannot be exposed`),
        remedy: 'choose another port, or end the server or the confined session that has it',
      },
    ],
  });

  test('of a port that the host has is refused, nothing runs, and the next command finds it free', async () => {
    const [server, port] = await occupied();
    const [cwd, confine] = [folder(), { expose: [port] }];
    await using session = new BashSession({ cwd, confine });
    await expect(session.run('echo x >x')).rejects.toMatchObject(refusal(port));
    expect(existsSync(join(cwd, 'x'))).toBe(false);
    server.close();
    await once(server, 'close');
    for (let round = 0; round < 3; round++) expect((await session.run('true')).exitCode).toBe(0);
    expect(await connects(port)).toBe(true);
  });

  test('of a port that the host has is a note, if the network is not required', async () => {
    const [[, port], other] = [await occupied(), await freePort()];
    const tasks = registry();
    const options = { cwd: folder(), confine: { expose: [port, other], require: [] } };
    const task = await tasks.start(devServer(other), options);
    expect((await waited(tasks, task, other)).matched).toBe(true);
    expect(await reached(other)).toContain('"url":"/"');
    const { confinement, exitCode, notes } = await bash('true', options);
    expect([exitCode, notes.filter((note) => note.includes('cannot be exposed'))]).toEqual([
      0,
      [port, other]
        .toSorted((a, b) => a - b)
        .map((one) => expect.stringContaining(`port ${one} of the host's loopback`)),
    ]);
    expect(confinement).toMatchObject({ held: expect.arrayContaining(['network']), missing: [] });
  });

  test('of a port that another owner exposes is refused, until that has ended', async () => {
    const port = await freePort();
    const options = { cwd: folder(), confine: { expose: [port] } };
    const [first, second] = [new BashSession(options), new BashSession(options)];
    onTestFinished(() => Promise.all([first.close(), second.close()]).then(() => {}));
    expect((await first.run('true')).exitCode).toBe(0);
    await expect(second.run('true')).rejects.toMatchObject(refusal(port));
    expect((await first.run('true')).exitCode).toBe(0);
    await first.close();
    expect((await second.run('true')).exitCode).toBe(0);
    expect(await connects(port)).toBe(true);
  });

  test('of a port that several owners expose is that of the first one', async () => {
    for (let round = 0; round < 5; round++) {
      const options = { cwd: folder(), confine: { expose: [await freePort()] } };
      const owners = Array.from({ length: 6 }, () => new BashSession(options));
      onTestFinished(() => Promise.all(owners.map((owner) => owner.close())).then(() => {}));
      expect((await owners[0]?.run('true'))?.exitCode).toBe(0);
    }
  });

  test('forwards to a server in a terminal', async () => {
    const port = await freePort();
    await using terminal = new PtySession({ cwd: folder(), confine: { expose: [port] } });
    await terminal.start(devServer(port));
    expect(await reached(port)).toContain('"url":"/"');
  });
});
