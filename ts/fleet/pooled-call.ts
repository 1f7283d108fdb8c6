import { onAbort } from '../core/abort.ts';
import { BashError } from '../errors.ts';
import type { Target } from '../target/types.ts';
import type { PlacedCall } from './handle.ts';
import type { Place } from './place.ts';
import { type Affinity, Waiter } from './placement.ts';

/** The parts of a pool that its calls use. */
export interface CallsOfPool {
  readonly queueMs: number;
  /** Gives a call a place, now or once there is one. */
  request(waiter: Waiter): void;
  withdraw(waiter: Waiter): void;
  admit(waiter: Waiter): void;
  dismiss(call: PooledCall, waiter: Waiter): void;
  /** A call leaves its place, in which it has begun or could not. */
  leave(place: Place, affinity: Affinity | null, hasBegun: boolean): void;
  /** Closes the pool if nobody holds it, and no call and no task of it goes on. */
  closeUnused(): void;
  /** A place that was connected could not be used. */
  onFailure(place: Place, error: BashError): void;
  /** The error of a call that has waited for too long. */
  overdue(): BashError;
  /** The error of a call whose affinity has lost its place. */
  lost(affinity: Affinity | null): BashError;
}

/** A call of a pool, from its wait for a place to its end. */
export class PooledCall implements PlacedCall {
  readonly #pool: CallsOfPool;
  readonly #affinity: Affinity | null;
  readonly #signal: AbortSignal | undefined;
  readonly #waiter: Waiter;
  readonly #until: number;
  #place: Place | null = null;
  #isOver = false;
  /** Settle the wait for a place. */
  #onPlace: (place: Place) => void = () => {};
  #fail: (error: BashError | GivenUpError) => void = () => {};
  #givenUp: BashError | null = null;

  constructor(pool: CallsOfPool, affinity: Affinity | null, signal: AbortSignal | undefined) {
    this.#pool = pool;
    this.#affinity = affinity;
    this.#signal = signal;
    this.#until = performance.now() + pool.queueMs;
    this.#waiter = new Waiter(
      affinity,
      (place) => {
        this.#place = place as Place;
        this.#onPlace(place as Place);
      },
      () => this.#fail(pool.lost(affinity)),
    );
    pool.admit(this.#waiter);
  }

  async target(): Promise<Target> {
    for (;;) {
      if (this.#givenUp) throw this.#givenUp;
      if (this.#signal?.aborted) throw abortedError();
      const place = await this.#wait();
      const connected = place.connected;
      if (connected) return this.#begun(connected);
      try {
        return this.#begun(await this.#bounded<Target>((resolve, reject) => place.connect().then(resolve, reject)));
      } catch (error) {
        this.#leave(false);
        if (error instanceof GivenUpError) throw error.cause;
      }
    }
  }

  retreat(error: BashError): void {
    if (this.#place && error.reason !== 'lost') this.#pool.onFailure(this.#place, error);
    this.#leave(false);
  }

  reportEnd(isLost: boolean): void {
    const affinity = this.#affinity;
    if (!affinity) return;
    if (isLost) affinity.isUntold = false;
    // The loss of the place may still have to come. A run that has ended there since knows of no loss.
    if (affinity.place === this.#place) affinity.isTold = isLost;
  }

  takeNote(): string | null {
    const note = this.#affinity?.note ?? null;
    if (this.#affinity) this.#affinity.note = null;
    return note;
  }

  holdUntil(over: Promise<unknown>): void {
    const place = this.#place;
    if (!place) return;
    place.tasks += 1;
    const done = () => {
      place.tasks -= 1;
      this.#pool.closeUnused();
    };
    over.then(done, done);
  }

  /** Lets a call that waits for a place reject. */
  giveUp(error: BashError): void {
    this.#givenUp = error;
    this.#fail(new GivenUpError(error));
  }

  end(): void {
    this.#leave(true);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pool.dismiss(this, this.#waiter);
  }

  #begun(target: Target): Target {
    if (this.#affinity) this.#affinity.hasRun = true;
    return target;
  }

  #leave(hasBegun: boolean): void {
    const place = this.#place;
    this.#place = null;
    if (place) this.#pool.leave(place, this.#affinity, hasBegun);
  }

  async #wait(): Promise<Place> {
    try {
      return await this.#bounded<Place>((resolve) => {
        this.#onPlace = resolve;
        this.#pool.request(this.#waiter);
      });
    } catch (error) {
      this.#pool.withdraw(this.#waiter);
      // It may have been placed since.
      this.#leave(false);
      throw error instanceof GivenUpError ? error.cause : error;
    }
  }

  /** Waits no longer than the call may, and not after it was aborted. */
  #bounded<T>(begin: (resolve: (value: T) => void, reject: (error: unknown) => void) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        forget?.();
      };
      const fail = (error: unknown) => {
        settle();
        reject(error);
      };
      this.#fail = fail;
      const giveUp = (error: BashError) => fail(new GivenUpError(error));
      const left = Math.max(0, this.#until - performance.now());
      const timer = setTimeout(() => giveUp(this.#pool.overdue()), left);
      const forget = this.#signal && onAbort(this.#signal, () => giveUp(abortedError()));
      begin((value) => {
        settle();
        resolve(value);
      }, fail);
    });
  }
}

/** The call itself was given up, not its place. */
class GivenUpError extends Error {
  override readonly cause: BashError;

  constructor(cause: BashError) {
    super(cause.message);
    this.cause = cause;
  }
}

/** The error of a call that was aborted before it had a place. */
function abortedError(): BashError {
  return new BashError('ABORT_ERR', 'the call was aborted before it had a place');
}
