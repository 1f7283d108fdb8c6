import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { BashError } from 'agent-bash';
import { Connections } from './connections.ts';
import { checkRequest, Refusal } from './guard.ts';
import { HEADERS, rawRefusal, sendRefusal } from './reply.ts';

/** Time in ms that the headers of a request may take. */
const HEADERS_MS = 15_000;
/** Time in ms that a whole request may take. */
const REQUEST_MS = 50_000;
/** Time in ms between two checks of these two limits. */
const CHECK_MS = 5_000;
/** Time in ms without progress after which the connection of a response is closed. */
const STUCK_MS = 60_000;
/** Time in ms for which the rest of a refused request is read, so that its sender gets to read the refusal. */
const DISCARD_MS = 2_000;

const ADDRESS = '127.0.0.1';

/**
 * Answers a request whose origin was checked, and calls `known` once it has shown a token. A `Refusal` that it throws
 * becomes the response.
 */
export type Answer = (request: IncomingMessage, response: ServerResponse, known: () => void) => Promise<void>;

/** A server that listens. */
export interface Listening {
  origin: string;
  port: number;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1 only. Rejects with `ERR_BASH_UNSUPPORTED` if it cannot listen on the port. */
export async function listen(port: number, answer: Answer): Promise<Listening> {
  const server = createServer({
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: 10_000,
    maxHeaderSize: 16 * 1024,
    // Our own check refuses a request without Host.
    requireHostHeader: false,
  });
  const connections = new Connections();
  server.on('connection', (socket) => connections.take(socket));
  server.timeout = STUCK_MS;
  await bound(server, port);
  const { port: actual } = server.address() as AddressInfo;
  // An origin as browsers write it, without the port if that is 80.
  const { origin } = new URL(`http://${ADDRESS}:${actual}`);
  const take = (request: IncomingMessage, response: ServerResponse) => {
    const known = () => connections.keep(request.socket);
    void handle(request, response, origin, () => answer(request, response, known));
  };
  // The body of a request with Expect is read only after the checks.
  server.on('request', take).on('checkContinue', take).on('checkExpectation', take);
  server.on('connect', (_, socket) => socket.end(rawRefusal(new Refusal(405, 'method', 'there is no CONNECT here'))));
  server.on('clientError', refuseUnread);
  return {
    origin,
    port: actual,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function bound(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program uses this port' : error.message;
      const message = `the page cannot listen on ${ADDRESS}:${port}: ${why}. Leave out the port for a free one.`;
      reject(new BashError('ERR_BASH_UNSUPPORTED', message, error.code));
    });
    server.listen({ host: ADDRESS, port, exclusive: true }, resolve);
  });
  server.removeAllListeners('error').on('error', () => {});
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
  answer: () => Promise<void>,
): Promise<void> {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  // A slow answer may take its time. A slow reader is disconnected.
  response.on('timeout', (socket: Socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
  try {
    const { method = '', url: target = '', headers, rawHeaders } = request;
    const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
    checkRequest({ method, target, headers, hosts }, origin);
    await answer();
  } catch (error) {
    // The connection has closed, so no refusal can be sent.
    if (response.destroyed) return;
    sendRefusal(response, refusalOf(error as Error));
    if (!request.complete) discard(request);
  }
}

function refusalOf(error: Error & { code?: string }): Refusal {
  if (error instanceof Refusal) return error;
  if (error.code === 'ERR_BASH_INVALID_ARG') return new Refusal(400, 'invalid', error.message);
  process.emitWarning(error);
  return new Refusal(500, 'failed', 'the server has failed; its log may say more');
}

function discard(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), DISCARD_MS);
  request.on('close', () => clearTimeout(timer)).resume();
}

/** Statuses of requests that Node could not parse, by Node's error codes. */
const UNREAD: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

function refuseUnread({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
  // After a part of another response, the refusal would be read as its continuation.
  if (!socket.writable || socket.bytesWritten > 0) return void socket.destroy();
  const refusal = new Refusal(UNREAD[code] ?? 400, 'request', 'this is no request that can be read');
  socket.end(rawRefusal(refusal), () => socket.destroy());
}
