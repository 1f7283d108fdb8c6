import { onAbort } from '../../abort.ts';

/** After the command was to end, until nobody waits for the sandbox any longer, in ms. */
const HARD_BOUND_MS = 1_000;

/** When a command in a sandbox is to end, and how long anybody waits for that: the time limit, the caller's signal. */
export class Ending {
  /** What ended the command; `null` as long as it ends by itself. */
  cause: 'timed-out' | 'aborted' | null = null;
  readonly #controller = new AbortController();
  readonly #graceMs: number;
  readonly #forget: (() => void) | undefined;
  #kill: () => void = () => {};
  #giveUp: () => void = () => {};
  readonly #givenUp = new Promise<null>((resolve) => {
    this.#giveUp = () => resolve(null);
  });
  #timer: NodeJS.Timeout;

  constructor(limitMs: number, graceMs: number, caller: AbortSignal | undefined) {
    this.#graceMs = graceMs;
    const abort = () => this.#end('aborted', caller?.reason);
    this.#forget = caller && onAbort(caller, abort);
    this.#timer = setTimeout(() => {
      this.#end('timed-out', new DOMException(`The time limit of ${limitMs} ms was reached.`, 'TimeoutError'));
    }, limitMs);
    if (caller?.aborted) abort();
  }

  /** Tells the sandbox. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What else ends the command. Called at once when it was to end before. */
  onEnd(kill: () => void): void {
    this.#kill = kill;
    if (this.cause !== null) kill();
  }

  /** What the promise comes to; `null` when it takes too long after the command was to end. Never without an end. */
  wait<T>(promise: Promise<T>): Promise<T | null> {
    return Promise.race([promise, this.#givenUp]);
  }

  /** The command has ended. */
  close(): void {
    clearTimeout(this.#timer);
    this.#forget?.();
  }

  #end(cause: 'timed-out' | 'aborted', reason: unknown): void {
    if (this.cause !== null) return;
    this.cause = cause;
    this.close();
    this.#timer = setTimeout(this.#giveUp, this.#graceMs + HARD_BOUND_MS);
    this.#controller.abort(reason);
    this.#kill();
  }
}
