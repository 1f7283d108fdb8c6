import { type FSWatcher, watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hostOf, socketName } from './place.ts';

/** Time in ms between two scans, which find what no event has told. */
const SCAN_MS = 1_000;

/** Scans the directory of the hosts' sockets when it changes. */
export class HostDirectory {
  readonly #where: () => string | null;
  readonly #found: (hosts: Set<string>) => void;
  #path: string | null = null;
  #watcher: FSWatcher | null = null;
  #timer: NodeJS.Timeout | null = null;
  #scanning: Promise<void> | null = null;
  #again = false;

  /**
   * `where` tells the directory, which may be made later; `null` while it is not private to this user. `found` receives
   * the names of all hosts after each scan.
   */
  constructor(where: () => string | null, found: (hosts: Set<string>) => void) {
    this.#where = where;
    this.#found = found;
  }

  /** The path of a host's socket. */
  socketOf(host: string): string {
    return join(this.#path ?? '/nowhere', socketName(host));
  }

  start(): void {
    if (this.#timer) return;
    this.#timer = setInterval(() => this.#scan(), SCAN_MS);
    this.#scan();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#unwatch();
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
    if (path !== this.#path) this.#unwatch();
    this.#path = path;
    // Watched first, so that nothing is missed in between.
    if (path !== null) this.#watch(path);
    const names = path === null ? [] : await readdir(path).catch(() => []);
    if (this.#timer) this.#found(new Set(names.map(hostOf).filter((host) => host !== null)));
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
