import { type FSWatcher, watch } from 'node:fs';

/** How often a file is looked at where the system cannot tell of changes, in ms. */
const LOOK_MS = 250;

/** Tells that a file may have grown. */
export class Growth {
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #grown = false;
  #resolve = () => {};

  constructor(path: string) {
    try {
      this.#watcher = watch(path, () => this.wake());
      this.#watcher.on('error', () => this.#look());
    } catch {
      this.#look();
    }
  }

  /** Resolves when the file has been touched since this was last asked. */
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

  // The limit of watches may be reached.
  #look(): void {
    this.#timer ??= setInterval(() => this.wake(), LOOK_MS);
  }
}
