import type { Board } from '../board/board.ts';
import type { PageRun } from '../wire.ts';
import { HostConnection, HostError } from './connection.ts';
import { HostDirectory } from './directory.ts';
import { isOurSocket } from './place.ts';
import type { HostMessage, HostRequest } from './protocol.ts';

/** The first and the longest time in ms before another attempt to connect. The time doubles with each attempt. */
const RETRY_MS = [100, 2_000] as const;
/** Time in ms after which a connection counts as good and the time before the next attempt is reset. */
const STEADY_MS = 5_000;
/** The pause after a read, as a multiple of the time that the read took. It limits the CPU share of a busy host. */
const REST = 4;

interface Link {
  connection: HostConnection | null;
  /** The time at which the host sent its state on this connection; `null` before. */
  since: number | null;
  retry: NodeJS.Timeout | null;
  wait: number;
}

/** The hosts of this user, each connected while its socket exists. */
export class Hosts {
  readonly #control: boolean;
  readonly #board: Board;
  readonly #links = new Map<string, Link>();
  readonly #directory: HostDirectory;
  /** Called when a host has ended, before its runs are removed. */
  ending: (host: string) => void = () => {};
  /** Receives the runs whose host ended without reporting their ends. */
  lost: (runs: PageRun[]) => void = () => {};

  /** `where` returns the directory of the sockets; see `HostDirectory`. */
  constructor(where: () => string | null, control: boolean, board: Board) {
    this.#control = control;
    this.#board = board;
    this.#directory = new HostDirectory(where, (names) => this.#found(names));
  }

  start(): void {
    this.#directory.start();
  }

  /** Disconnects from all hosts. */
  stop(): void {
    this.#directory.stop();
    for (const [host, link] of [...this.#links]) this.#remove(host, link);
    this.#board.clear();
  }

  /** Sends a request to a host. Rejects with `HostError`. */
  request(host: string, request: HostRequest): Promise<void> {
    const { connection } = this.#links.get(host) ?? {};
    if (!connection) return Promise.reject(new HostError('unreachable', `host ${host} is not connected`));
    return connection.request(request);
  }

  /** Returns the path of a host's socket. */
  socketOf(host: string): string {
    return this.#directory.socketOf(host);
  }

  #found(names: Set<string>): void {
    for (const [host, link] of [...this.#links]) {
      // A connected host still works after its socket file was removed.
      if (names.has(host) || link.connection) continue;
      this.#remove(host, link);
      this.#giveUp(host);
    }
    for (const host of names) {
      if (this.#links.has(host)) continue;
      const link: Link = { connection: null, since: null, retry: null, wait: RETRY_MS[0] };
      this.#links.set(host, link);
      void this.#connect(host, link);
    }
  }

  async #connect(host: string, link: Link): Promise<void> {
    const path = this.socketOf(host);
    const isOurs = await isOurSocket(path);
    if (this.#links.get(host) !== link) return;
    if (!isOurs) return this.#again(host, link, true);
    const connection = new HostConnection(path, this.#control, {
      message: (message) => this.#take(host, link, connection, message),
      read: (ms) => connection.rest(REST * ms),
      closed: (error) => this.#again(host, link, error !== null),
    });
    link.connection = connection;
    try {
      await connection.hello;
      await connection.request({ do: 'watch' });
    } catch {
      connection.close();
    }
  }

  #take(host: string, link: Link, connection: HostConnection, message: HostMessage): void {
    if (link.connection !== connection || !connection.host) return;
    if ('state' in message) {
      link.since ??= performance.now();
      // A host is identified by the name of its socket, not by what it sends.
      this.lost(this.#board.connected({ ...connection.host, id: host }, message.state));
    } else if ('change' in message) this.#board.changed(host, message.change);
  }

  /**
   * Schedules another attempt to connect. The runs of the host stay if it closed a good connection, since it may only
   * have found the page too slow. They are removed if the connection failed, or the host sent bad messages.
   */
  #again(host: string, link: Link, failed: boolean): void {
    if (this.#links.get(host) !== link) return;
    if (failed || link.since === null) this.#giveUp(host);
    if (link.since !== null && performance.now() - link.since > STEADY_MS) link.wait = RETRY_MS[0];
    link.connection = null;
    link.since = null;
    link.retry = setTimeout(() => void this.#connect(host, link), link.wait);
    link.wait = Math.min(2 * link.wait, RETRY_MS[1]);
  }

  #remove(host: string, link: Link): void {
    this.#links.delete(host);
    if (link.retry) clearTimeout(link.retry);
    link.connection?.close();
  }

  #giveUp(host: string): void {
    if (!this.#board.hasHost(host)) return;
    this.ending(host);
    this.lost(this.#board.gone(host));
  }
}
