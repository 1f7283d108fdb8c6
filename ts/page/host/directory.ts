import { type FSWatcher, watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hostOf, isOurs } from './place.ts';

/** Time in ms between two scans, which find what no event has told. */
const SCAN_MS = 1_000;

/** Scans the directory of the hosts' sockets when it changes. */
export class HostDirectory {
  readonly #path: string;
  readonly #found: (hosts: Set<string>) => void;
  #watcher: FSWatcher | null = null;
  #timer: NodeJS.Timeout | null = null;
  #scanning: Promise<void> | null = null;
  #again = false;

  /** `found` receives the names of all hosts after each scan. */
  constructor(path: string, found: (hosts: Set<string>) => void) {
    this.#path = path;
    this.#found = found;
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
    const ours = await isOurs(this.#path);
    // Watched first, so that nothing is missed in between.
    if (ours) this.#watch();
    else this.#unwatch();
    const names = ours ? await readdir(this.#path).catch(() => []) : [];
    if (this.#timer) this.#found(new Set(names.map(hostOf).filter((host) => host !== null)));
  }

  #watch(): void {
    if (this.#watcher || !this.#timer) return;
    try {
      // A directory that was removed ends its watcher, or leaves one that is silent: the scans go on.
      this.#watcher = watch(this.#path, { persistent: false }, (event) => {
        if (event === 'rename') this.#scan();
      }).on('error', () => this.#unwatch());
    } catch {
      // Too many watchers: the scans are enough.
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }
}
