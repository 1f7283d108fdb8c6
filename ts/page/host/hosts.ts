import type { Board } from '../board/board.ts';
import type { PageRun } from '../wire.ts';
import { HostConnection, HostError } from './connection.ts';
import { HostDirectory } from './directory.ts';
import { isOurSocket } from './place.ts';
import type { HostMessage, HostRequest } from './protocol.ts';

/** Time in ms until the next try, doubled each time up to the second. */
const RETRY_MS = [100, 2_000] as const;
/** Time in ms for which a connection lasts that is no failed try. */
const STEADY_MS = 5_000;
/** How much longer than the reading of messages the rest after it is: a host that sends without end leaves time. */
const REST = 4;

interface Link {
  connection: HostConnection | null;
  /** When the host has told its state on this connection. */
  since: number | null;
  retry: NodeJS.Timeout | null;
  wait: number;
}

/** The hosts of this user, each connected for as long as its socket is there. */
export class Hosts {
  readonly #control: boolean;
  readonly #board: Board;
  readonly #links = new Map<string, Link>();
  readonly #directory: HostDirectory;
  /** Called when a host has ended, before its runs are given up. */
  ending: (host: string) => void = () => {};
  /** Receives the runs whose ends were not told. */
  lost: (runs: PageRun[]) => void = () => {};

  /** `where` tells the directory of the sockets; see `HostDirectory`. */
  constructor(where: () => string | null, control: boolean, board: Board) {
    this.#control = control;
    this.#board = board;
    this.#directory = new HostDirectory(where, (names) => this.#found(names));
  }

  start(): void {
    this.#directory.start();
  }

  /** Disconnects from all hosts, which then are free of cost. */
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

  /** The path of a host's socket. */
  socketOf(host: string): string {
    return this.#directory.socketOf(host);
  }

  #found(names: Set<string>): void {
    for (const [host, link] of [...this.#links]) {
      // A host whose file was removed is still there for those that are connected.
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
      // The name of a socket is the name of its host, whatever that says of itself.
      this.lost(this.#board.connected({ ...connection.host, id: host }, message.state));
    } else if ('change' in message) this.#board.changed(host, message.change);
  }

  /**
   * Tries again after a while. A host that has closed a good connection may have found it slow, or listen anew. One
   * that cannot be connected to, or that lies, is given up.
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
