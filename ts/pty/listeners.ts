import { failureOf } from '../core/listener.ts';
import { checkListener } from './options.ts';

/** How the program of a terminal has ended, as in `BashResult`. */
export interface TerminalExit {
  /** 0 … 255; 128 + n after signal n, 124 at the time limit, 130 after `kill()`. */
  exitCode: number | null;
  /** The signal that really ended it (`'SIGKILL'`), or `null`. */
  signal: string | null;
}

/** Receives the text that a program has written to a terminal. */
export type TerminalDataListener = (text: string) => unknown;
/** Receives the end of the program in a terminal. */
export type TerminalExitListener = (end: TerminalExit) => unknown;

/** The listeners of one terminal. The core sends no text without a listener. */
export class TerminalListeners {
  readonly #data = new Set<TerminalDataListener>();
  readonly #exit = new Set<TerminalExitListener>();
  readonly #listened: (on: boolean) => void;
  readonly #warned = new WeakSet<TerminalDataListener | TerminalExitListener>();

  constructor(listened: (on: boolean) => void) {
    this.#listened = listened;
  }

  add(event: 'data' | 'exit', listener: TerminalDataListener | TerminalExitListener): void {
    checkListener(event, listener);
    if (event === 'exit') this.#exit.add(listener as TerminalExitListener);
    else {
      this.#data.add(listener as TerminalDataListener);
      this.#listened(true);
    }
  }

  remove(event: 'data' | 'exit', listener: TerminalDataListener | TerminalExitListener): void {
    checkListener(event, listener);
    if (event === 'exit') this.#exit.delete(listener as TerminalExitListener);
    else if (this.#data.delete(listener as TerminalDataListener) && this.#data.size === 0) this.#listened(false);
  }

  /** Resolves when all of them have taken it. */
  async data(text: string): Promise<void> {
    await Promise.all([...this.#data].map((listener) => this.#call(listener, () => listener(text))));
  }

  end(end: TerminalExit): void {
    for (const listener of [...this.#exit]) void this.#call(listener, () => listener({ ...end }));
  }

  async #call(listener: TerminalDataListener | TerminalExitListener, call: () => unknown): Promise<void> {
    const failure = await failureOf(call);
    if (failure === undefined || this.#warned.has(listener)) return;
    this.#warned.add(listener);
    process.emitWarning(`a listener of a PtySession failed: ${failure}`, { code: 'AGENT_BASH_LISTENER' });
  }
}
