import type { Socket } from 'node:net';

/** Most connections at once. */
const MOST = 200;

/**
 * The connections of a server. Where all places are taken, the oldest one that has not shown a token gives its place to
 * a new one, so that requests that are never finished keep no tab out.
 */
export class Connections {
  /** Those that have not shown a token, the oldest first. */
  readonly #guests = new Set<Socket>();
  readonly #known = new WeakSet<Socket>();
  #count = 0;

  take(socket: Socket): void {
    if (this.#count >= MOST) {
      const [oldest] = this.#guests;
      if (oldest === undefined) return void socket.destroy();
      this.#leave(oldest);
      oldest.destroy();
    }
    this.#count += 1;
    this.#guests.add(socket);
    socket.once('close', () => this.#leave(socket));
  }

  /** Keeps a connection that has shown a token. */
  keep(socket: Socket): void {
    if (this.#guests.delete(socket)) this.#known.add(socket);
  }

  #leave(socket: Socket): void {
    if (this.#guests.delete(socket) || this.#known.delete(socket)) this.#count -= 1;
  }
}
