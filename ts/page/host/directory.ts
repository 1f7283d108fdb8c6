import { closeSync, constants, type FSWatcher, fstatSync, openSync, statSync, watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hostOf, socketName } from './place.ts';

/** Time in ms between two scans of a directory that cannot be watched. In most cases it does not exist yet. */
const SCAN_MS = 200;
/** A watched directory is scanned every fifth time nevertheless, in case an event was lost. */
const WATCHED = 5;
/** Most bytes of the path of a socket, on any system. */
const PATH_BYTES = 100;

/** Scans the directory of the hosts' sockets each time it changes. */
export class HostDirectory {
  readonly #where: () => string | null;
  readonly #found: (hosts: Set<string>) => void;
  #path: string | null = null;
  /** The directory, opened, if sockets cannot be reached by its path. */
  #opened: number | null = null;
  #watcher: FSWatcher | null = null;
  #timer: NodeJS.Timeout | null = null;
  #scanning: Promise<void> | null = null;
  #again = false;
  #scans = 0;

  /**
   * `where` returns the directory, which may not exist yet, or `null` while the directory is not private to this user.
   * `found` receives the names of all hosts after each scan.
   */
  constructor(where: () => string | null, found: (hosts: Set<string>) => void) {
    this.#where = where;
    this.#found = found;
  }

  /**
   * Returns the path of a host's socket, which does not exist if there is no directory. On Linux, a short path through
   * the open directory replaces one that is too long for a socket address.
   */
  socketOf(host: string): string {
    const path = join(this.#path ?? '/nowhere', socketName(host));
    if (this.#path === null || process.platform !== 'linux' || Buffer.byteLength(path) <= PATH_BYTES) return path;
    try {
      this.#opened ??= openSync(this.#path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    } catch {
      return path;
    }
    return join(`/proc/self/fd/${this.#opened}`, socketName(host));
  }

  start(): void {
    if (this.#timer) return;
    this.#timer = setInterval(() => {
      this.#scans += 1;
      if (!this.#watcher || this.#scans % WATCHED === 0) this.#scan();
    }, SCAN_MS);
    this.#scan();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#leave();
  }

  #leave(): void {
    this.#unwatch();
    if (this.#opened !== null) closeSync(this.#opened);
    this.#opened = null;
  }

  #scan(): void {
    this.#again = this.#scanning !== null;
    this.#scanning ??= this.#list().finally(() => {
      this.#scanning = null;
      if (this.#again) this.#scan();
    });
  }

  async #list(): Promise<void> {
    const path = this.#where();
    if (path !== this.#path || (path !== null && this.#isReplaced(path))) this.#leave();
    this.#path = path;
    // Watching starts before the scan, so no change between the two is missed.
    if (path !== null) this.#watch(path);
    const names = path === null ? [] : await readdir(path).catch(() => []);
    if (this.#timer) this.#found(new Set(names.map(hostOf).filter((host) => host !== null)));
  }

  /** Returns whether the path now leads to a directory other than the open one. */
  #isReplaced(path: string): boolean {
    if (this.#opened === null) return false;
    const [open, now] = [fstatSync(this.#opened), statSync(path, { throwIfNoEntry: false })];
    return now?.ino !== open.ino || now.dev !== open.dev;
  }

  #watch(path: string): void {
    if (this.#watcher || !this.#timer) return;
    try {
      // The watcher of a removed directory fails or is silent. The periodic scans cover both.
      this.#watcher = watch(path, { persistent: false }, (event) => {
        if (event === 'rename') this.#scan();
      }).on('error', () => this.#unwatch());
    } catch {
      // There is no directory yet, or there are too many watchers. The periodic scans are enough.
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }
}
