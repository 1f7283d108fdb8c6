import { closeSync, constants, type FSWatcher, fstatSync, openSync, statSync, watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hostOf, socketName } from './place.ts';

/** Time in ms between two scans of a directory that cannot be watched: in most cases it is not there yet. */
const SCAN_MS = 200;
/** One of so many scans takes place in spite of a watcher, and finds what no event has told. */
const WATCHED = 5;
/** Bytes of the path of a socket, at most, on any system. */
const PATH_BYTES = 100;

/** Scans the directory of the hosts' sockets when it changes. */
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
   * `where` tells the directory, which may be made later; `null` while it is not private to this user. `found` receives
   * the names of all hosts after each scan.
   */
  constructor(where: () => string | null, found: (hosts: Set<string>) => void) {
    this.#where = where;
    this.#found = found;
  }

  /** The path of a host's socket; one that does not exist if there is no directory. Linux has a short one for any. */
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
    // Watched first, so that nothing is missed in between.
    if (path !== null) this.#watch(path);
    const names = path === null ? [] : await readdir(path).catch(() => []);
    if (this.#timer) this.#found(new Set(names.map(hostOf).filter((host) => host !== null)));
  }

  /** Returns whether the path leads to another directory than the open one. */
  #isReplaced(path: string): boolean {
    if (this.#opened === null) return false;
    const [open, now] = [fstatSync(this.#opened), statSync(path, { throwIfNoEntry: false })];
    return now?.ino !== open.ino || now.dev !== open.dev;
  }

  #watch(path: string): void {
    if (this.#watcher || !this.#timer) return;
    try {
      // A directory that was removed ends its watcher, or leaves one that is silent: the scans go on.
      this.#watcher = watch(path, { persistent: false }, (event) => {
        if (event === 'rename') this.#scan();
      }).on('error', () => this.#unwatch());
    } catch {
      // No directory yet, or too many watchers: the scans are enough.
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }
}
