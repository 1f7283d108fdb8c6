import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { BackgroundRegistry, type BashOptions, bash, type ConfineOptions } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folder, freePort, testNeeding, until } from '../../support/index.ts';
import { listenerTest, withoutNamespaces } from '../support/held.ts';

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

/** Uses sockets of UDP in each way, and prints what each use gives. Arguments: a port and a path of the host. */
const DATAGRAMS = `
import ctypes, errno, json, os, socket, struct, sys
port, path = int(sys.argv[1]), sys.argv[2]
here, there = ("127.0.0.1", port), ("192.0.2.1", 9)
def code(act, *words):
    try: return act(*words) or "done"
    except OSError as e: return errno.errorcode[e.errno]
def udp(family=socket.AF_INET): return socket.socket(family, socket.SOCK_DGRAM, socket.IPPROTO_UDP)
def connected(to=here):
    s = udp(socket.AF_INET6 if ":" in to[0] else socket.AF_INET); s.connect(to); return s
def asked(to):
    s = connected(to); return [s.getsockname()[0], s.getpeername()[0], s.getpeername()[1]]
def by_path(act): return code(act, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM, fileno=udp().detach()))
def passed():
    a, b = socket.socketpair(); socket.send_fds(a, [b"x"], [connected().detach()])
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM, fileno=socket.recv_fds(b, 1, 1)[1][0])
def many(s, to):
    name = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(to[1]), socket.inet_aton(to[0]))
    text = ctypes.create_string_buffer(b"x"); name = ctypes.create_string_buffer(name)
    part = ctypes.create_string_buffer(struct.pack("PN", ctypes.addressof(text), 1))
    head = struct.pack("PI4xPNPNi4xI4x", ctypes.addressof(name), 16, ctypes.addressof(part), 1, 0, 0, 0, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.sendmmsg(s.fileno(), head, 1, 0) < 0: raise OSError(ctypes.get_errno(), "")
def again():
    s = connected(("::1", 9)); s.connect(("::ffff:127.0.0.1", 9)); return s.getsockname()[0]
print(json.dumps({
    "families": [asked(("127.0.0.1", 65535)), asked(("::1", 65535)), again(), udp().getsockname()],
    "configured": socket.getaddrinfo("localhost", 80, proto=socket.IPPROTO_TCP, flags=socket.AI_ADDRCONFIG)[0][4][1],
    "no peer": code(udp().getpeername),
    "connect": code(udp().connect, there),
    "sendto": [code(udp().sendto, b"x", to) for to in (here, there)],
    "sendmsg": [code(udp().sendmsg, [b"x"], [], 0, to) for to in (here, there)],
    "sendmmsg": [code(many, udp(), to) for to in (here, there)],
    "connected": [code(connected().send, b"x"), code(os.write, connected().detach(), b"x"), code(connected().sendto, b"x", here)],
    "copies": [code(connected().dup().send, b"x"), code(passed().send, b"x"), code(passed().sendmsg, [b"x"], [], 0, here)],
    "bind": [code(udp().bind, ("127.0.0.1", 0)), code(udp(socket.AF_INET6).bind, ("::", 0))],
    "recv": code(udp().recv, 1),
    "multicast": code(udp().setsockopt, socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("224.0.0.9") * 2),
    "path": [by_path(lambda s: s.sendto(b"x", path)), by_path(lambda s: s.sendmsg([b"x"], [], 0, path)), by_path(lambda s: s.connect(path))],
    "others": [code(socket.socket, socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP), code(socket.socket, socket.AF_UNIX, socket.SOCK_DGRAM)],
}))`;

/** Servers of datagrams on the host: a port, a path, and all that they receive. */
async function datagramServers(path: string): Promise<{ port: number; heard: () => string }> {
  let heard = '';
  const note = (data: Buffer) => {
    heard += data;
  };
  const socket = createSocket('udp4', note).bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const serve = `import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("${path}"); os.write(1, b"bound.")
while True: os.write(1, s.recv(9))`;
  const child = spawn('python3', ['-c', serve]);
  child.stdout.on('data', note);
  onTestFinished(() => {
    socket.close();
    child.kill();
  });
  await until(() => heard === 'bound.');
  const client = createSocket('udp4');
  client.send('sent.', socket.address().port, '127.0.0.1', () => client.close());
  await until(() => heard === 'bound.sent.');
  return { port: socket.address().port, heard: () => heard };
}

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

  listenerTest('a listed name is in /etc/hosts, for resolvers that use datagrams alone', async () => {
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

  listenerTest('a socket of UDP tells the families of addresses, and sends nothing', async () => {
    const cwd = folder();
    const path = join(cwd, 'host');
    const { port, heard } = await datagramServers(path);
    const command = `python3 -c '${DATAGRAMS}' ${port} ${path}`;
    for (const confine of [allowing(port), {}]) {
      const { stdout, stderr, confinement } = await run(cwd, command, confine);
      expect(JSON.parse(stdout || '{}'), stderr).toEqual({
        families: [['127.0.0.1', '127.0.0.1', 65_535], ['::1', '::1', 65_535], '::ffff:127.0.0.1', ['0.0.0.0', 0]],
        configured: 80,
        'no peer': 'ENOTCONN',
        connect: 'ENETUNREACH',
        sendto: ['EACCES', 'EACCES'],
        sendmsg: ['ENOTCONN', 'ENOTCONN'],
        sendmmsg: ['ENOTCONN', 'ENOTCONN'],
        connected: ['ENOTCONN', 'ENOTCONN', 'EACCES'],
        copies: ['ENOTCONN', 'ENOTCONN', 'ENOTCONN'],
        bind: ['EACCES', 'EACCES'],
        recv: 'ENOTCONN',
        multicast: 'ENOTSUP',
        path: ['EACCES', 'ENOTCONN', 'EACCES'],
        others: ['EACCES', 'EPERM'],
      });
      // No entry of a list allows datagrams.
      const outside = confine.network ? { target: '192.0.2.1:9/udp', grant: null } : { target: '192.0.2.1:9' };
      const network = confinement?.denied.filter(({ kind }) => kind === 'network');
      expect(network).toMatchObject([{ ...outside, count: 2 }, { target: path }]);
    }
    expect(heard()).toBe('bound.sent.');
  });

  testNeeding('an address besides the loopback', own !== undefined)(
    'an address is allowed by itself and by its network',
    async () => {
      const port = await server(own as string);
      const url = `http://${own}:${port}`;
      for (const entry of [`${own}:${port}`, `${(own as string).replace(/\d+$/, '0')}/24:${port}`])
        expect((await run(folder(), `curl -s ${url}`, { network: { allow: [entry] } })).stdout, entry).toBe(
          `hello ${own}`,
        );
    },
  );

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
    const port = await freePort();
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
