import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';
import { packageRoot } from '../../../support/index.ts';

const fixtures = join(packageRoot, '__test__/confine/secrets/fixtures');
const identity = {
  key: readFileSync(join(fixtures, 'key.pem')),
  cert: readFileSync(join(fixtures, 'certificate.pem')),
};

/** A request as a host got it. */
export interface Heard {
  head: string;
  body: string;
  /** The headers that the attempts use. Empty: the request has none. */
  key: string;
  aws: string;
  authorization: string;
  /** Whether the request wants a part, and which. */
  range: string;
}

/** What a host answers: bytes, and pauses in milliseconds. */
export type Answer = (heard: Heard) => Buffer | (Buffer | number)[];

/** A server that remembers all it gets. */
export interface Listener {
  port: number;
  heard(): string;
  /** The heads of its requests. */
  heads?(): string;
}

async function listening(server: Server): Promise<number> {
  server.on('error', () => undefined);
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1', 2048);
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const header = (head: string, name: string) => new RegExp(`^${name}: *(.*)\r$`, 'im').exec(head)?.[1] ?? '';

function heardOf(head: string, body: string): Heard {
  const of = (name: string) => header(head, name);
  return { head, body, key: of('x-key'), aws: of('x-aws'), authorization: of('authorization'), range: of('range') };
}

/** The length of a request at the start of the text. `undefined`: it is not whole. */
function whole(text: string): { head: number; body: number; content: string } | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = text.slice(0, end + 2);
  if (/^transfer-encoding:.*chunked/im.test(head)) {
    const last = text.indexOf('0\r\n\r\n', end + 4);
    return last < 0 ? undefined : { head: end + 4, body: last + 5 - end - 4, content: text.slice(end + 4, last) };
  }
  const length = Number(header(head, 'content-length') || 0);
  if (text.length < end + 4 + length) return undefined;
  return { head: end + 4, body: length, content: text.slice(end + 4, end + 4 + length) };
}

/** A host of secrets over HTTP/1.1, whose answer a path selects. Other paths are answered with the whole request. */
export async function rawHost(answers: Map<string, Answer>, seen: Map<string, Heard>): Promise<Listener> {
  let [all, heads] = ['', ''];
  const echo: Answer = ({ head, body }) => ok([], `${head}\r\n${body}`);
  const server = createTlsServer({ ...identity, ALPNProtocols: ['http/1.1'] }, async (socket) => {
    socket.on('error', () => undefined);
    let text = '';
    let last = Promise.resolve();
    socket.on('data', (data) => {
      all += data.toString('latin1');
      text += data.toString('latin1');
      for (let of = whole(text); of; of = whole(text)) {
        const [head, body] = [text.slice(0, of.head), of.content];
        text = text.slice(of.head + of.body);
        heads += head;
        const id = /^\S+ \/([^ ?]*)/.exec(head)?.[1] ?? '';
        const one = heardOf(head, body);
        if (!seen.get(id)?.key) seen.set(id, one);
        last = last.then(() => give(socket, (answers.get(id) ?? echo)(one)));
      }
    });
  });
  server.on('tlsClientError', () => undefined);
  return { port: await listening(server), heard: () => all, heads: () => heads };
}

async function give(socket: Socket, answer: Buffer | (Buffer | number)[]): Promise<void> {
  for (const part of Buffer.isBuffer(answer) ? [answer] : answer) {
    if (typeof part === 'number') await new Promise((go) => setTimeout(go, part));
    else if (!socket.destroyed) socket.write(part);
  }
}

/** An answer with its length. */
export function ok(headers: string[], body: string | Buffer, status = '200 OK'): Buffer {
  const content = Buffer.from(body as string);
  const lines = [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${content.length}`];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), content]);
}

/** What a host of HTTP/2 does with a request. */
export type Answer2 = (stream: ServerHttp2Stream, heard: Heard) => void;

/** A host of secrets over HTTP/2. */
export async function http2Host(answers: Map<string, Answer2>, seen: Map<string, Heard>): Promise<Listener> {
  let [all, heads] = ['', ''];
  const server = createSecureServer({ ...identity, allowHTTP1: false, maxSessionInvalidFrames: 1e9 });
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const text = `\r\n${head.join('')}`;
    all += text;
    heads += text;
    let body = '';
    stream.on('data', (data) => {
      body += data.toString('latin1');
      all += data.toString('latin1');
    });
    const id = String(headers[':path']).slice(1);
    const answer = answers.get(id);
    const go = () => {
      const one = heardOf(text, body);
      if (!seen.get(id)?.key) seen.set(id, one);
      if (stream.destroyed) return;
      if (answer) answer(stream, one);
      else {
        stream.respond({ ':status': 200 });
        stream.end(`${text}${body}`);
      }
    };
    if (id.startsWith('early')) go();
    else stream.on('end', go);
  });
  server.on('tlsClientError', () => undefined);
  return { port: await listening(server as unknown as Server), heard: () => all, heads: () => heads };
}

/** A host that no secret names, in plain text. It answers each request with 200 and takes any bytes. */
export async function plainHost(answer: string | ((heard: string) => string)): Promise<Listener> {
  let all = '';
  const server = createServer((socket) => {
    let own = '';
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      all += data.toString('latin1');
      own += data.toString('latin1');
      socket.write(typeof answer === 'string' ? answer : answer(own));
    });
  });
  return { port: await listening(server), heard: () => all };
}

/** A host over TLS that remembers what it gets, decrypted. */
export async function tlsHost(): Promise<Listener> {
  let all = '';
  const server = createTlsServer({ ...identity, ALPNProtocols: ['http/1.1'] }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      all += data.toString('latin1');
      socket.write(ok([], 'taken'));
    });
  });
  server.on('tlsClientError', () => undefined);
  return { port: await listening(server), heard: () => all };
}
