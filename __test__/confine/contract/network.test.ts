import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { BackgroundRegistry, type BashOptions, bash, type ConfineOptions } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folder, until } from '../../support/index.ts';
import { withoutNamespaces } from '../support/held.ts';

const run = (cwd: string, command: string, confine: ConfineOptions = {}, options: BashOptions = {}) =>
  bash(command, { cwd, confine, timeoutMs: 20_000, ...options });

/** A server on the host's loopback, and its port. */
async function server(host = '127.0.0.1'): Promise<number> {
  const made: Server = createServer((request, response) =>
    response.end(`hello ${request.headers.host?.split(':')[0]}`),
  );
  made.listen(0, host);
  await once(made, 'listening');
  onTestFinished(() => {
    made.closeAllConnections();
    made.close();
  });
  return (made.address() as { port: number }).port;
}

const allowing = (port: number): ConfineOptions => ({
  network: { allow: [`good.test:${port}`], hosts: { 'good.test': '127.0.0.1' } },
});

const own = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

/** Programs that ignore proxies, and programs that use them. */
const CLIENTS: Record<string, (url: string) => string> = {
  curl: (url) => `curl -s ${url}`,
  'curl without a proxy': (url) => `curl -s --noproxy '*' ${url}`,
  'fetch of Node': (url) => `node -e 'fetch("${url}").then(r => r.text()).then(t => process.stdout.write(t))'`,
  'http of Node': (url) => `node -e 'http.get("${url}", r => r.pipe(process.stdout))'`,
  'Python with urllib': (url) =>
    `python3 -c 'import urllib.request as u; print(u.urlopen("${url}").read().decode(), end="")'`,
  "Python's asyncio": (url) => `python3 -c '
import asyncio
from urllib.parse import urlparse
async def go():
    u = urlparse("${url}")
    r, w = await asyncio.open_connection(u.hostname, u.port)
    w.write(f"GET / HTTP/1.0\\r\\nHost: {u.hostname}\\r\\n\\r\\n".encode())
    print((await r.read()).decode().split("\\r\\n\\r\\n")[1], end="")
asyncio.run(go())'`,
};

describe.runIf(process.platform === 'linux')('network', () => {
  test("'none': its own loopback, nothing else, and no name resolves", async () => {
    const port = await server();
    const { stdout } = await run(
      folder(),
      `curl -s http://127.0.0.1:${port}; getent hosts good.test example.org; getent hosts localhost | wc -l
       python3 -c '
import socket
s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname()); print("own loopback")
s = socket.create_server(("::1", 0), family=socket.AF_INET6); c = socket.create_connection(s.getsockname()[:2]); print("of IPv6")'`,
    );
    expect(stdout).toBe('1\nown loopback\nof IPv6\n');
  });

  test.each(Object.entries(CLIENTS))('an allowed host works for %s', async (_, client) => {
    const port = await server();
    const { stdout, stderr } = await run(folder(), client(`http://good.test:${port}/`), allowing(port));
    expect(stdout, stderr).toBe('hello good.test');
  });

  test('a domain is allowed with the names below it', async () => {
    const port = await server();
    const confine: ConfineOptions = {
      network: {
        allow: [`*.good.test:${port}`, 'good.test:1'],
        hosts: { 'a.good.test': '127.0.0.1', 'good.test': '127.0.0.1' },
      },
    };
    const { stdout } = await run(
      folder(),
      `curl -s http://a.good.test:${port}; curl -s http://good.test:${port}`,
      confine,
    );
    expect(stdout).toBe('hello a.good.test');
  });

  test.runIf(withoutNamespaces)('a listed name is in /etc/hosts, for resolvers that use datagrams alone', async () => {
    const confine = { network: { allow: ['good.test', '*.wide.test'], hosts: { 'good.test': '127.0.0.1' } } };
    const { stdout } = await run(folder(), 'cat /etc/hosts', confine);
    const lines = readFileSync('/etc/hosts', 'utf8').trimEnd();
    expect(stdout.startsWith(`198.18.0.1 good.test\n${lines}\n`)).toBe(true);
    expect(stdout).not.toContain('wide.test');
    expect((await run(folder(), 'cat /etc/hosts', { network: 'full' })).stdout.trimEnd()).toBe(lines);
    for (const hidden of ['/etc/hosts', '/etc']) {
      expect((await run(folder(), 'cat /etc/hosts', { ...confine, hide: [hidden] })).stdout, hidden).toBe('');
    }
  });

  test.runIf(own)('an address is allowed by itself and by its network', async () => {
    const port = await server(own as string);
    const url = `http://${own}:${port}`;
    for (const entry of [`${own}:${port}`, `${(own as string).replace(/\d+$/, '0')}/24:${port}`])
      expect((await run(folder(), `curl -s ${url}`, { network: { allow: [entry] } })).stdout, entry).toBe(
        `hello ${own}`,
      );
  });

  test('a denied host is a denial with the smallest grant', async () => {
    const port = await server();
    const { confinement, exitCode } = await run(
      folder(),
      `curl -s --max-time 5 http://other.test:${port}`,
      allowing(port),
    );
    expect(exitCode).not.toBe(0);
    const target = `other.test:${port}`;
    const grant = { network: { allow: [target] } };
    expect(confinement?.denied).toMatchObject([{ kind: 'network', program: 'curl', target, grant }]);
  });

  test("with network 'none' a denial's target may be the name alone", async () => {
    const { confinement } = await run(folder(), 'curl -s --max-time 5 https://other.test');
    expect(confinement?.denied[0]).toMatchObject({
      kind: 'network',
      target: expect.stringMatching(/^other\.test(:443)?$/),
    });
  });

  test('without a port, an entry allows 80 and 443 only', async () => {
    const port = await server();
    const { stdout } = await run(folder(), `curl -s --max-time 5 http://good.test:${port}`, {
      network: { allow: ['good.test'], hosts: { 'good.test': '127.0.0.1' } },
    });
    expect(stdout).toBe('');
  });

  test("'full': the loopback of the host is there", async () => {
    const port = await server();
    const { stdout } = await run(folder(), `curl -s http://127.0.0.1:${port}`, { network: 'full' });
    expect(stdout).toBe('hello 127.0.0.1');
  });

  test("`expose` forwards from the host's loopback, and `wait` looks into the world's", async () => {
    const free = await server();
    const port = free === 65_535 ? free - 1 : free + 1;
    const registry = new BackgroundRegistry();
    onTestFinished(() => registry.close());
    const task = await registry.start(
      `python3 -c 'import http.server as h; h.HTTPServer(("127.0.0.1", ${port}), h.SimpleHTTPRequestHandler).serve_forever()'`,
      { cwd: folder(), confine: { expose: [port] } },
    );
    expect((await registry.wait(task.id, { port, timeoutMs: 20_000 })).matched).toBe(true);
    const answer = await until(() => fetch(`http://127.0.0.1:${port}/`).catch(() => null));
    expect((answer as Response).status).toBe(200);
  });

  test('two worlds may use the same port', async () => {
    const serve = `python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 46329)); print("bound")'`;
    const results = await Promise.all([folder(), folder()].map((cwd) => run(cwd, `${serve}; sleep .2`)));
    expect(results.map(({ stdout }) => stdout)).toEqual(['bound\n', 'bound\n']);
  });

  test('sockets by path work inside write roots and private /tmp', async () => {
    const echo = (path: string) => `python3 -c '
import socket
s = socket.socket(socket.AF_UNIX); s.bind(${path}); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect(${path}); c.send(b"x"); print(s.accept()[0].recv(1).decode())'`;
    const tmp = '__import__("tempfile").gettempdir() + "/sock"';
    const { stdout } = await run(folder(), `${echo('"sock"')}; ${echo(tmp)}; mkdir d; ${echo('"d/sock"')}`);
    expect(stdout).toBe('x\nx\nx\n');
  });

  test('a hidden socket is not reached, in a write root either', async () => {
    const cwd = folder();
    const path = join(cwd, 'keys', 'agent');
    mkdirSync(join(cwd, 'keys'));
    // A socket that was there before the world is not reached either.
    const hide = [join(cwd, 'keys')];
    for (const confine of [{}, { hide }]) await run(cwd, 'true', confine);
    const agent = createSocketServer((socket) => socket.end('secret')).listen(path);
    await once(agent, 'listening');
    onTestFinished(() => void agent.close());
    const connect = `python3 -c '
import socket
s = socket.socket(socket.AF_UNIX); s.connect("keys/agent"); print(s.recv(9).decode())'`;
    expect((await run(cwd, connect)).stdout).toBe('secret\n');
    const { stdout, confinement } = await run(cwd, connect, { hide });
    expect(stdout).toBe('');
    if (withoutNamespaces)
      expect(confinement?.denied).toEqual([expect.objectContaining({ kind: 'network', target: path })]);
  });
});
