import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folder, host } from '../../support/index.ts';

/** Real servers, by what they speak and their program. The Rust tests of the gate compare it with the same ones. */
const ports = new Map<string, string>();
let servers: ChildProcess;

beforeAll(async () => {
  const program = join(import.meta.dirname, 'servers/all.mjs');
  servers = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface(servers.stdout as NonNullable<typeof servers.stdout>)) {
    const [speaks, name, port = ''] = line.split(' ');
    if (speaks === 'ready') return;
    ports.set(`${speaks} ${name}`, port);
  }
  throw new Error('the servers did not start');
}, 600_000);

afterAll(async () => {
  const ended = once(servers, 'exit');
  servers.stdin?.end();
  await ended;
});

/** Connects to a port of a.test, writes the parts, and prints what the server answers. */
const CLIENT = `import socket, sys, time
client = socket.create_connection(("a.test", int(sys.argv[1])), 10)
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
try:
    for part in sys.argv[2:]:
        client.sendall(bytes.fromhex(part))
        time.sleep(0.05)
    client.shutdown(socket.SHUT_WR)
    while more := client.recv(65536):
        sys.stdout.buffer.write(more)
except OSError:
    pass
`;

/** Big-endian bytes in front of a text, as many as told, with its length. */
const vector = (width: number, data: Buffer) =>
  Buffer.concat([Buffer.from(data.length.toString(16).padStart(2 * width, '0'), 'hex'), data]);

/** A ClientHello of TLS 1.2, whose answer has the certificate in plain text, in records of a version. */
function hello(name: string, version = '0301', length = 16_384): Buffer {
  const entry = Buffer.concat([Buffer.from([0]), vector(2, Buffer.from(name))]);
  const extension = (kind: string, data: Buffer) => Buffer.concat([Buffer.from(kind, 'hex'), vector(2, data)]);
  const extensions = [
    extension('0000', vector(2, entry)),
    extension('000a', Buffer.from('0004001d0017', 'hex')),
    extension('000d', Buffer.from('00020401', 'hex')),
  ];
  const fields = [Buffer.from('0303', 'hex'), Buffer.alloc(32, 7), vector(1, Buffer.alloc(0))];
  const choices = [vector(2, Buffer.from('c02f', 'hex')), vector(1, Buffer.from([0]))];
  const body = Buffer.concat([...fields, ...choices, vector(2, Buffer.concat(extensions))]);
  const message = Buffer.concat([Buffer.from([1]), vector(3, body)]);
  const records = [];
  for (let at = 0; at < message.length; at += length) {
    records.push(Buffer.from(`16${version}`, 'hex'), vector(2, message.subarray(at, at + length)));
  }
  return Buffer.concat(records);
}

const text = (bytes: string) => Buffer.from(bytes, 'latin1');
const request = (name: string) => `GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`;

/** What clients write, and whether the gate lets the server answer. All of them are answered without a gate. */
const cases: [title: string, server: string, parts: Buffer[], passes: boolean][] = [
  ['a request', 'http node', [text(request('a.test'))], true],
  ['a request in two parts', 'http nginx', [text('GET / HT'), text(request('a.test').slice(8))], true],
  ['a request for another host', 'http go', [text(request('evil.test'))], false],
  ['a method of Latin-1', 'http python', [text(`\xef\xbb\xbf${request('evil.test')}`)], false],
  ['a version with a sign', 'http python', [text(request('evil.test').replace('/1.1', '/+1.1'))], false],
  ['a request without a version', 'http python', [text('GET /\r\nHost: evil.test\r\n\r\n')], false],
  ['a request of RTSP', 'http node', [text(request('evil.test').replace('HTTP/1.1', 'RTSP/1.0'))], false],
  ['a handshake', 'tls nginx', [hello('a.test')], true],
  ['a handshake in short records', 'tls bun', [hello('a.test', '0301', 40)], true],
  ['a handshake for another name', 'tls apache', [hello('evil.test')], false],
  ['a handshake of another version', 'tls rustls', [hello('evil.test', 'fefd')], false],
  ['short records of another version', 'tls go', [hello('evil.test', '0400', 18)], false],
  ['a handshake within SMTP', 'starttls python', [text('STARTTLS\r\n'), hello('a.test')], true],
  [
    'one for another name',
    'starttls go',
    [Buffer.concat([text('STARTTLS\r\n'), hello('evil.test', '0400', 18)])],
    false,
  ],
];

/** Runs a client for each case, confined with `a.test` as the only host, or not at all. Says which are answered. */
async function answered(env: NodeJS.ProcessEnv, confined: boolean): Promise<Record<string, boolean>> {
  const runs = cases.map(([title, server, parts]) => {
    const port = ports.get(server);
    const network = { allow: [`a.test:${port}`], hosts: { 'a.test': '127.0.0.1' } };
    const client = confined ? CLIENT : CLIENT.replace('"a.test"', '"127.0.0.1"');
    const words = [port, ...parts.map((part) => part.toString('hex'))].join(' ');
    const command = `python3 -c '${client}' ${words} | grep -caE "<<|(a|evil)[.]test"`;
    return { title, command, options: confined ? { confine: { network } } : {} };
  });
  const source = `
    const results = {};
    for (const { title, command, options } of ${JSON.stringify(runs)}) {
      const { stdout, confinement } = await bash(command, { cwd: ${JSON.stringify(folder())}, ...options });
      if (options.confine && confinement.missing.length > 0) throw new Error(confinement.missing.join());
      results[title] = Number(stdout) > 0;
    }
    console.log(JSON.stringify(results));`;
  const child = host(source, { env });
  const [line] = await child.says(/^\{.*\}$/m);
  await child.ended();
  return JSON.parse(line) as Record<string, boolean>;
}

describe.runIf(process.platform === 'linux')('a confined client of real servers', () => {
  const expected = Object.fromEntries(cases.map(([title, , , passes]) => [title, passes]));

  test('would be answered without confinement', async () => {
    const all = Object.fromEntries(cases.map(([title]) => [title, true]));
    expect(await answered({}, false)).toEqual(all);
  });

  test.for([
    ['namespaces', {}],
    ['a listener', { AGENT_BASH_NAMESPACES: 'off' }],
  ] as const)('is answered for the name that is allowed, with %s', async ([, env]) => {
    expect(await answered(env, true)).toEqual(expected);
  });
});
