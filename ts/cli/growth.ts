import { type FSWatcher, watch } from 'node:fs';

/** Interval between checks of a file if the system cannot report changes, in ms. */
const LOOK_MS = 250;

/** Reports that a file may have grown. */
export class Growth {
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #grown = false;
  #resolve = () => {};

  /** Watches a file; without a path, somebody else calls `wake`. */
  constructor(path: string | null) {
    if (path === null) return;
    try {
      this.#watcher = watch(path, () => this.wake());
      this.#watcher.on('error', () => this.#look());
    } catch {
      this.#look();
    }
  }

  /** Resolves when the file has changed since the last call. */
  async next(): Promise<void> {
    if (!this.#grown) await new Promise<void>((resolve) => (this.#resolve = resolve));
    this.#grown = false;
  }

  wake(): void {
    this.#grown = true;
    this.#resolve();
  }

  close(): void {
    this.#watcher?.close();
    clearInterval(this.#timer);
  }

  // The system's limit of watches may be reached.
  #look(): void {
    this.#timer ??= setInterval(() => this.wake(), LOOK_MS);
  }
}
