import type { ProvidedTarget } from './types.ts';

/** The part of a lease at its end in which nothing new is placed. */
const LAST_PART = 0.1;
/** The longest time of a timer of Node, ms. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Renews the time of a provided place, and tells when it is over. Its timers keep no process alive. */
export class Lease {
  readonly #place: ProvidedTarget;
  readonly #length: number;
  #expiresAt: number;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  readonly #onEnding: () => void;
  readonly #onExpired: () => void;

  /** `onEnding`: nothing new may be placed. `onExpired`: the place is at its end. */
  constructor(place: ProvidedTarget & { expiresAt: number }, onEnding: () => void, onExpired: () => void) {
    this.#place = place;
    this.#expiresAt = place.expiresAt;
    this.#length = Math.max(0, place.expiresAt - Date.now());
    this.#onEnding = onEnding;
    this.#onExpired = onExpired;
    this.#at(place.renew ? this.#length / 2 : this.#length * (1 - LAST_PART));
  }

  /** Renews no more. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #at(delay: number): void {
    this.#timer = setTimeout(() => void this.#turn(), Math.min(Math.max(0, delay), LONGEST_TIMER));
    this.#timer.unref();
  }

  async #turn(): Promise<void> {
    const left = () => this.#expiresAt - Date.now();
    const last = this.#length * LAST_PART;
    const { renew } = this.#place;
    if (renew && left() > last && (await this.#renewed(left() - last))) {
      this.#at(this.#length / 2);
    } else if (this.#isOver) {
      return;
    } else if (left() > last) {
      // A failed renewal is tried again.
      this.#at(renew ? Math.min(left() - last, last) : left() - last);
    } else {
      this.#onEnding();
      this.#timer = setTimeout(this.#onExpired, Math.max(0, left()));
      this.#timer.unref();
    }
  }

  /** Tries to renew within this time, ms. */
  async #renewed(patience: number): Promise<boolean> {
    const until = Date.now() + this.#length;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), patience);
      timer.unref();
    });
    const asked = (async () => this.#place.renew?.(until))().then(
      () => true,
      () => false,
    );
    const renewed = (await Promise.race([asked, late])) && !this.#isOver;
    clearTimeout(timer);
    if (renewed) this.#expiresAt = until;
    return renewed;
  }
}
