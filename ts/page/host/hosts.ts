import { join } from 'node:path';
import type { Board } from '../board/board.ts';
import type { PageRun } from '../wire.ts';
import { HostConnection, HostError } from './connection.ts';
import { HostDirectory } from './directory.ts';
import { isOurSocket, pidOf } from './place.ts';
import type { HostMessage, HostRequest } from './protocol.ts';

/** Time in ms until the next try, doubled each time up to the second. */
const RETRY_MS = [100, 2_000] as const;

interface Link {
  connection: HostConnection | null;
  retry: NodeJS.Timeout | null;
  wait: number;
}

/** The hosts of this user, each connected for as long as its socket is there. */
export class Hosts {
  readonly #path: string | null;
  readonly #control: boolean;
  readonly #board: Board;
  readonly #links = new Map<string, Link>();
  readonly #directory: HostDirectory | null;
  /** Called when a host has ended, before its runs are given up. */
  ending: (host: string) => void = () => {};
  /** Receives the runs that were lost with their host. */
  lost: (runs: PageRun[]) => void = () => {};

  constructor(path: string | null, control: boolean, board: Board) {
    this.#path = path;
    this.#control = control;
    this.#board = board;
    this.#directory = path === null ? null : new HostDirectory(path, (names) => this.#found(names));
  }

  start(): void {
    this.#directory?.start();
  }

  /** Disconnects from all hosts, which then are free of cost. */
  stop(): void {
    this.#directory?.stop();
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
    return join(this.#path ?? '', `${host}.sock`);
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
      const link: Link = { connection: null, retry: null, wait: RETRY_MS[0] };
      this.#links.set(host, link);
      void this.#connect(host, link);
    }
  }

  async #connect(host: string, link: Link): Promise<void> {
    const path = this.socketOf(host);
    if (!(await isOurSocket(path))) return this.#again(host, link);
    if (this.#links.get(host) !== link) return;
    const connection = new HostConnection(path, this.#control, {
      message: (message) => this.#take(host, connection, message),
      closed: () => this.#again(host, link),
    });
    link.connection = connection;
    try {
      await connection.hello;
      await connection.request({ do: 'watch' });
      link.wait = RETRY_MS[0];
    } catch {
      connection.close();
    }
  }

  #take(host: string, connection: HostConnection, message: HostMessage): void {
    if (this.#links.get(host)?.connection !== connection || !connection.host) return;
    // The name of a socket is the name of its host, whatever that says of itself.
    if ('state' in message) this.#board.connected({ ...connection.host, id: host }, message.state);
    else if ('change' in message) this.#board.changed(host, message.change);
  }

  /** Tries again after a while. The runs of a host that has ended are given up at once. */
  #again(host: string, link: Link): void {
    if (this.#links.get(host) !== link) return;
    link.connection = null;
    if (!isAlive(pidOf(host))) this.#giveUp(host);
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
