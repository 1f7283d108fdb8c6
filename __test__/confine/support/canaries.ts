import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isLinux, isRoot } from '../../support/index.ts';

/** The loopback address of the test's resolver, a random one, because test files run side by side. */
export const RESOLVER = `127.53.${randomInt(1, 255)}.${randomInt(1, 255)}`;

/** The head of a TLS record of a handshake. */
const RECORD = new RegExp(`${String.fromCharCode(0x16, 0x03)}[\\s\\S]{3}`, 'g');

/**
 * Servers of the test on the host, which remember all they receive: TCP and UDP on every address of this machine, with
 * one port, and sockets by path and by abstract name.
 */
export class Canaries {
  /** The received data: all datagrams in the first entry, then one entry per connection. */
  #received: string[] = [''];
  #closers: (() => void)[] = [];
  port = 0;

  /** Whether any server has received the text. */
  heard(text: string): boolean {
    // A handshake may come in many records: their heads lie between its bytes.
    return this.#received.some((data) => data.includes(text) || data.replace(RECORD, '').includes(text));
  }

  async open(): Promise<void> {
    const ipv4 = this.#server();
    ipv4.listen(0, '127.0.0.1');
    await once(ipv4, 'listening');
    this.port = (ipv4.address() as { port: number }).port;
    for (const address of ['::1', ...ownAddresses()])
      await this.#listen(this.#server(), { port: this.port, host: address });
    await this.#udp('127.0.0.1', this.port);
    await this.#udp('::1', this.port);
    if (isRoot && isLinux) await this.#udp(RESOLVER, 53);
  }

  /** A stream socket at that path, or with that abstract name (`\0NAME`). */
  async at(path: string): Promise<void> {
    await this.#listen(this.#server(), { path });
  }

  close(): void {
    for (const close of this.#closers.splice(0)) close();
  }

  async #udp(address: string, port: number): Promise<void> {
    const socket = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4', reuseAddr: true }, (data) => {
      this.#received[0] += data.toString('latin1');
    });
    socket.bind(port, address);
    await once(socket, 'listening');
    this.#closers.push(() => socket.close());
  }

  #server(): Server {
    const server = createServer((socket) => {
      const index = this.#received.push('') - 1;
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        this.#received[index] += data.toString('latin1');
        if (data.includes('GET ')) socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
      });
    });
    this.#closers.push(() => server.close());
    return server;
  }

  async #listen(server: Server, where: object): Promise<void> {
    server.listen(where);
    await once(server, 'listening');
  }
}

/** The addresses of this machine other than its loopback. Data sent there does not leave the machine either. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address }) => address);
}
