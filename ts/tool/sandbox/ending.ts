import { bash } from 'agent-bash';
import { onAbort } from '../../core/abort.ts';
import { innerOf } from '../../core/inner.ts';

/**
 * Decides when a command in a sandbox must end, by its time limit, its silence or the caller's signal, and how long to
 * wait for that.
 */
export class Ending {
  /** The reason why the command was ended, or `null` while it runs or if it exited by itself. */
  cause: 'timed-out' | 'aborted' | null = null;
  /** The longest silence that was allowed, if the command was ended because of it. */
  silentMs: number | null = null;
  readonly #controller = new AbortController();
  readonly #graceMs: number;
  readonly #forget: (() => void) | undefined;
  #kill: () => void = () => {};
  #giveUp: () => void = () => {};
  readonly #givenUp = new Promise<null>((resolve) => {
    this.#giveUp = () => resolve(null);
  });
  #timer: NodeJS.Timeout;
  #silence: NodeJS.Timeout | undefined;
  #idleMs: number | null = null;
  /** Outputs that are being passed on. */
  #passing = 0;

  constructor(limitMs: number, graceMs: number, caller: AbortSignal | undefined) {
    this.#graceMs = graceMs;
    const abort = () => this.#end('aborted', caller?.reason);
    this.#forget = caller && onAbort(caller, abort);
    this.#timer = setTimeout(() => {
      this.#end('timed-out', new DOMException(`The time limit of ${limitMs} ms was reached.`, 'TimeoutError'));
    }, limitMs);
    if (caller?.aborted) abort();
  }

  /** Tells the sandbox that the command must end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Registers another way to end the command. Calls it at once if the command must already end. */
  onEnd(kill: () => void): void {
    this.#kill = kill;
    if (this.cause !== null) kill();
  }

  /** Counts the time without output from now on. */
  countSilence(idleMs: number): void {
    this.#idleMs = idleMs;
    this.#countAgain();
  }

  /** Records output, which is being passed on. A listener that takes its time holds the output back. */
  async onOutput(passed: Promise<void>): Promise<void> {
    this.#passing += 1;
    clearTimeout(this.#silence);
    try {
      await passed;
    } finally {
      this.#passing -= 1;
      this.#countAgain();
    }
  }

  #countAgain(): void {
    const idleMs = this.#idleMs;
    if (idleMs === null || this.cause !== null || this.#passing > 0) return;
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.silentMs = idleMs;
      this.#end('timed-out', new DOMException(`There was no output for ${idleMs} ms.`, 'TimeoutError'));
    }, idleMs);
  }

  /**
   * Resolves with the promise's value, or with `null` if that takes too long after the command was asked to end. Always
   * settles.
   */
  wait<T>(promise: Promise<T>): Promise<T | null> {
    return Promise.race([promise, this.#givenUp]);
  }

  /** Releases the timer and the listener once the command has exited. */
  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    this.#idleMs = null;
    this.#forget?.();
  }

  #end(cause: 'timed-out' | 'aborted', reason: unknown): void {
    if (this.cause !== null) return;
    this.cause = cause;
    this.close();
    this.#timer = setTimeout(this.#giveUp, this.#graceMs + innerOf(bash).facts().run.hardBoundMs);
    this.#controller.abort(reason);
    this.#kill();
  }
}
