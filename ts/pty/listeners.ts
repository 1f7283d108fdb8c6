import { failureOf } from '../core/listener.ts';
import { checkListener } from './options.ts';

/** How the program of a terminal has ended, as in `BashResult`. */
export interface PtyEnd {
  /** 0 … 255; 128 + n after signal n, 124 at the time limit, 130 after `kill()`. */
  exitCode: number | null;
  /** The signal that really ended it (`'SIGKILL'`), or `null`. */
  signal: string | null;
}

export type DataListener = (text: string) => unknown;
export type EndListener = (end: PtyEnd) => unknown;

/** The listeners of one terminal. The core sends no text without a listener. */
export class PtyListeners {
  readonly #data = new Set<DataListener>();
  readonly #exit = new Set<EndListener>();
  readonly #listened: (on: boolean) => void;
  readonly #warned = new WeakSet<DataListener | EndListener>();

  constructor(listened: (on: boolean) => void) {
    this.#listened = listened;
  }

  add(event: 'data' | 'exit', listener: DataListener | EndListener): void {
    checkListener(event, listener);
    if (event === 'exit') this.#exit.add(listener as EndListener);
    else {
      this.#data.add(listener as DataListener);
      this.#listened(true);
    }
  }

  remove(event: 'data' | 'exit', listener: DataListener | EndListener): void {
    checkListener(event, listener);
    if (event === 'exit') this.#exit.delete(listener as EndListener);
    else if (this.#data.delete(listener as DataListener) && this.#data.size === 0) this.#listened(false);
  }

  /** Resolves when all of them have taken it. */
  async data(text: string): Promise<void> {
    await Promise.all([...this.#data].map((listener) => this.#call(listener, () => listener(text))));
  }

  end(end: PtyEnd): void {
    for (const listener of [...this.#exit]) void this.#call(listener, () => listener({ ...end }));
  }

  async #call(listener: DataListener | EndListener, call: () => unknown): Promise<void> {
    const failure = await failureOf(call);
    if (failure === undefined || this.#warned.has(listener)) return;
    this.#warned.add(listener);
    process.emitWarning(`a listener of a PtySession failed: ${failure}`, { code: 'AGENT_BASH_LISTENER' });
  }
}
