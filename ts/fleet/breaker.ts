/** Failures in a row that open a breaker. */
const FAILURES = 3;
/** The first and the longest pause, ms. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [5_000, 300_000];

/** Keeps calls from what has failed several times in a row, for longer and longer. Its timers keep no process alive. */
export class Breaker {
  /** Failures since the last success. */
  failures = 0;
  /** When it is tried again, in ms since the epoch. `null`: it may be tried. */
  brokenUntil: number | null = null;
  #pause = FIRST_PAUSE;
  #timer: NodeJS.Timeout | undefined;
  readonly #onEnd: () => void;

  /** `onEnd` is called when a pause is over. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  get isOpen(): boolean {
    return this.brokenUntil !== null;
  }

  /** Counts a failure. After a pause, the first one begins the next pause. */
  fail(): void {
    this.failures += 1;
    if (this.failures < FAILURES || this.isOpen) return;
    this.brokenUntil = Date.now() + this.#pause;
    this.#timer = setTimeout(() => {
      this.brokenUntil = null;
      this.#onEnd();
    }, this.#pause);
    this.#timer.unref();
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
  }

  succeed(): void {
    this.close();
    this.failures = 0;
    this.#pause = FIRST_PAUSE;
  }

  /** Ends a pause without a call. */
  close(): void {
    clearTimeout(this.#timer);
    this.brokenUntil = null;
  }
}
