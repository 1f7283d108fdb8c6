import { type EventOf, listen, theBridge } from '../core/calls.ts';
import { loadNative } from '../core/native.ts';

/** The time between two reports, ms. */
const EVERY_MS = 1_000;
/** Most places of a report. */
export const REPORTED = 200;

/** Reports a pool to the people who watch this process, for as long as somebody does. */
export class PoolReports {
  readonly #native = new (loadNative().NativePool)(theBridge());
  readonly #report: () => object;
  #timer: NodeJS.Timeout | undefined;

  /** `report` returns what `NativePool.report` takes. */
  constructor(report: () => object) {
    this.#report = report;
    listen<EventOf<'watched'>>(this.#native.number, () => this.tell());
  }

  /** Reports the pool, and again after a while if somebody watches. */
  tell(): void {
    clearTimeout(this.#timer);
    if (this.#native.report(JSON.stringify(this.#report()))) {
      this.#timer = setTimeout(() => this.tell(), EVERY_MS).unref();
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    listen(this.#native.number, null);
    this.#native.close();
  }
}
