import { BashError } from '../errors.ts';
import type { ConnectOptions, Target, TargetAddress } from '../target/types.ts';
import type { PoolParts } from './handle.ts';
import { Lease } from './lease.ts';
import { POOL_DEFAULTS } from './options.ts';
import { Place, type PlaceChange } from './place.ts';
import { type Affinity, type Departure, Placement, type Waiter } from './placement.ts';
import { type CallsOfPool, PooledCall } from './pooled-call.ts';
import { DuplicateError, ProvidedPlaces } from './provided-places.ts';
import { PoolReports, REPORTED } from './reports.ts';
import type { PlaceStats, ProvidedTarget, TargetPoolOptions } from './types.ts';

/** The age at which what is known of loads is read again, ms. Heartbeats tell it every few seconds. */
const LOAD_MS = 2_000;

/** Someone who waits until a place is gone. */
interface Leaving {
  gone: Promise<void>;
  onGone: () => void;
}

/** The places of a `TargetPool`: which there are, what becomes of them, and the calls that use them. */
export class Pool implements CallsOfPool, PoolParts {
  readonly queueMs: number;
  readonly #bounds: { min: number; max: number; perTarget: number; idleMs: number };
  readonly #placement: Placement<Place>;
  readonly #places = new Map<string, Place>();
  readonly #provided: ProvidedPlaces | null;
  readonly #leases = new Map<Place, Lease>();
  readonly #idle = new Map<Place, { timer: NodeJS.Timeout; since: number }>();
  readonly #leaving = new Map<Place, Leaving>();
  readonly #closing = new Set<Promise<void>>();
  readonly #calls = new Set<PooledCall>();
  /** Places of the provider that take runs or will. Each call that waits asks for it. */
  #providedCount = 0;
  readonly #reports: PoolReports;
  #lastFailure: string | null = null;
  #loadsReadAt = 0;
  #isUnheld = false;
  #closed: Promise<void> | null = null;

  constructor(options: TargetPoolOptions) {
    const { targets = [], provider } = options;
    const given = <Name extends keyof typeof POOL_DEFAULTS>(name: Name): number => options[name] ?? POOL_DEFAULTS[name];
    this.#bounds = { min: given('min'), max: given('max'), perTarget: given('perTarget'), idleMs: given('idleMs') };
    this.queueMs = given('queueMs');
    this.#placement = new Placement(this.#bounds.perTarget);
    for (const one of targets) this.#add(this.#made(one, null), 'targets');
    this.#provided = provider ? new ProvidedPlaces(provider, this.#bounds, this.#demand()) : null;
    this.#reports = new PoolReports(() => this.#report());
    this.#provided?.ask();
  }

  call(affinity?: unknown, signal?: AbortSignal): PooledCall {
    if (this.#closed) throw closedError();
    const known = affinity === undefined ? null : this.#placement.affinity(affinity);
    const call = new PooledCall(this, known, signal);
    this.#calls.add(call);
    return call;
  }

  targetOf(affinity: unknown): Target | null {
    return this.#placement.placeOf(affinity)?.connected ?? null;
  }

  forget(affinity: unknown): void {
    // A text is the caller's, who may call again.
    if (typeof affinity !== 'string') this.#placement.drop(affinity);
  }

  connected(): Target[] {
    return [...this.#places.values()].flatMap(({ connected }) => connected ?? []);
  }

  /** Returns the first places, at most this many. */
  stats(most = Number.POSITIVE_INFINITY): PlaceStats[] {
    const anywhere = this.#placement.line.length;
    return [...this.#places.values()].slice(0, most).map((place) => {
      place.readLoad();
      const { id, state, running, line, memoryFree, breaker } = place;
      const queued = line.length + anywhere;
      const load = Number.isFinite(place.load) ? place.load : 0;
      return { id, state, running, queued, load, memoryFree, brokenUntil: breaker.brokenUntil };
    });
  }

  async drain(id: string): Promise<void> {
    const place = this.#places.get(id);
    if (!place) {
      const names = [...this.#places.keys()].slice(0, 10).join(', ') || 'none';
      throw new BashError(
        'ERR_BASH_INVALID_ARG',
        `drain: no place is named ${JSON.stringify(id)}; there are: ${names}`,
      );
    }
    return this.#drain(place, 'was drained');
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Closes the pool as soon as nothing of it runs: nobody can use it any more. */
  closeUnheld(): void {
    this.#isUnheld = true;
    this.closeUnused();
  }

  closeUnused(): void {
    if (!this.#isUnheld || this.#calls.size > 0) return;
    if ([...this.#places.values()].every(({ tasks }) => tasks === 0)) this.close().catch(() => {});
  }

  request(waiter: Waiter): void {
    this.#readLoads();
    this.#placement.request(waiter);
    if (this.#placement.line.length > 0) this.#provided?.ask();
  }

  withdraw(waiter: Waiter): void {
    this.#placement.withdraw(waiter);
    this.#provided?.ask();
  }

  admit(waiter: Waiter): void {
    this.#placement.admit(waiter);
  }

  dismiss(call: PooledCall, waiter: Waiter): void {
    this.#calls.delete(call);
    this.#placement.dismiss(waiter);
    this.closeUnused();
  }

  leave(place: Place, affinity: Affinity | null, hasBegun: boolean): void {
    if (hasBegun) this.#placement.leave(place, affinity);
    else this.#placement.retreat(place, affinity);
    if (place.running > 0) return;
    if (this.#leaving.has(place)) this.#remove(place, false);
    else this.#onIdle(place);
  }

  onFailure(place: Place, error: unknown): void {
    this.#keepFailure(error, place.id);
    if (place.provided) {
      // Places that cannot be reached are made less and less often.
      this.#provided?.breaker.fail();
      this.#remove(place, true);
    } else {
      place.breaker.fail();
      this.#refresh(place);
    }
  }

  overdue(): BashError {
    const why = this.#lastFailure ?? `all ${this.#places.size} are full or cannot be reached`;
    return targetError('timeout', `no place was free within ${this.queueMs} ms, and nothing was started: ${why}`);
  }

  lost(affinity: Affinity | null): BashError {
    const name = (affinity?.lostPlace as Place | null)?.id ?? 'the place';
    const message = `${name} is lost, where earlier calls of this affinity ran, with its files; the next call runs elsewhere`;
    return Object.assign(targetError('lost', message), { target: name });
  }

  #report() {
    const { perTarget } = this.#bounds;
    return { perTarget, waiting: this.#placement.line.length, places: this.stats(REPORTED), count: this.#places.size };
  }

  #made(given: Target | (TargetAddress & ConnectOptions), provided: ProvidedTarget | null): Place {
    return new Place(given, provided, (...change) => this.#onChange(...change));
  }

  #add(place: Place, of: string): void {
    if (this.#places.has(place.id)) throw new DuplicateError(`${of}: there are two places named ${place.id}`);
    this.#places.set(place.id, place);
    if (place.provided) this.#providedCount += 1;
    this.#refresh(place);
  }

  #demand() {
    return {
      places: () => this.#providedCount,
      waiting: () => this.#placement.line.length,
      affinityOf: (index: number) => {
        const key = this.#placement.line.at(index)?.affinity?.key;
        return typeof key === 'string' ? key : null;
      },
      take: (provided: ProvidedTarget) => this.#take(provided),
      onFailure: (error: unknown) => this.#keepFailure(error, 'the provider'),
    };
  }

  #take(provided: ProvidedTarget): void {
    const place = this.#made(provided.address, provided);
    this.#add(place, 'the provider');
    const { expiresAt } = provided;
    if (expiresAt !== null) {
      const ending = () => void this.#drain(place, 'has ended with its lease');
      const lease = new Lease({ ...provided, expiresAt }, ending, () => this.#remove(place, false));
      this.#leases.set(place, lease);
    }
    this.#onIdle(place);
    // The first call finds it warm, and a job of Slurm ends without a connection.
    place.connect().catch(() => {});
  }

  #keepFailure(error: unknown, where: string): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#lastFailure = message.startsWith(where) ? message : `${where}: ${message}`;
  }

  #onChange(place: Place, change: PlaceChange, error?: unknown): void {
    if (this.#places.get(place.id) !== place) return;
    if (change === 'failed') {
      this.onFailure(place, error);
      return;
    }
    if (change === 'connected') {
      this.#lastFailure = null;
      place.readLoad();
      place.breaker.succeed();
      if (place.provided) this.#provided?.breaker.succeed();
    }
    if (change === 'lost') this.#placement.free(place, { lost: true });
    if (change === 'gone' || (change === 'lost' && place.provided)) this.#remove(place, true);
    else this.#refresh(place);
  }

  /** Opens or closes a place to new runs, as it is now. */
  #refresh(place: Place): void {
    place.failures = place.breaker.failures;
    this.#placement.open(place, place.takesRuns && this.#places.has(place.id));
  }

  #drain(place: Place, why: string): Promise<void> {
    const known = this.#leaving.get(place);
    if (known) return known.gone;
    let onGone = () => {};
    const gone = new Promise<void>((resolve) => {
      onGone = resolve;
    });
    this.#leaving.set(place, { gone, onGone });
    this.#retire(place);
    const files = place.provided ? 'its files are gone' : 'its files stay there';
    this.#placement.free(place, { lost: false, note: `${place.id} ${why}, where earlier calls ran; ${files}` });
    if (place.running === 0) this.#remove(place, false);
    else this.#provided?.ask();
    return gone;
  }

  /** Lets a place take nothing new for good. */
  #retire(place: Place): void {
    if (place.provided && !place.isDraining) this.#providedCount -= 1;
    place.isDraining = true;
    this.#refresh(place);
  }

  /** Gives a place up, and closes it. */
  #remove(place: Place, broken: boolean, why: Departure = { lost: true }): void {
    if (this.#places.get(place.id) !== place) return;
    this.#retire(place);
    this.#places.delete(place.id);
    this.#placement.free(place, why);
    this.#leases.get(place)?.end();
    this.#leases.delete(place);
    clearTimeout(this.#idle.get(place)?.timer);
    this.#idle.delete(place);
    const closing = place.close().then(() => {
      if (place.provided) this.#provided?.release(place.id, broken);
      this.#leaving.get(place)?.onGone();
      this.#leaving.delete(place);
    });
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
    this.#provided?.ask();
  }

  /** A place has no run any more. One timer for each place looks after those that nobody uses. */
  #onIdle(place: Place): void {
    if (!place.provided || !this.#places.has(place.id)) return;
    const { idleMs, min } = this.#bounds;
    const known = this.#idle.get(place);
    const since = Date.now();
    if (known) {
      known.since = since;
      return;
    }
    const look = () => {
      const idle = this.#idle.get(place);
      if (!idle) return;
      const left = idle.since + idleMs - Date.now();
      const isUsed = place.running > 0 || place.tasks > 0 || this.#providedCount <= min;
      if (left <= 0 && !isUsed) {
        const note = `${place.id} was released, where earlier calls ran, since nothing ran there for ${idleMs} ms`;
        this.#remove(place, false, { lost: false, note: `${note}; its files are gone` });
        return;
      }
      idle.timer = setTimeout(look, left > 0 ? left : Math.max(idleMs, 1_000));
      idle.timer.unref();
    };
    const timer = setTimeout(look, idleMs);
    timer.unref();
    this.#idle.set(place, { timer, since });
  }

  #readLoads(): void {
    const now = performance.now();
    if (now - this.#loadsReadAt < LOAD_MS && this.#loadsReadAt > 0) return;
    this.#loadsReadAt = now;
    for (const place of this.#places.values()) {
      place.readLoad();
      this.#placement.rank(place);
    }
  }

  async #close(): Promise<void> {
    // Places that go are not replaced.
    this.#provided?.stop();
    for (const call of this.#calls) call.giveUp(closedError());
    for (const place of [...this.#places.values()]) this.#remove(place, false);
    await Promise.all(this.#closing);
    await this.#provided?.close();
    this.#reports.close();
  }
}

function targetError(reason: NonNullable<BashError['reason']>, message: string): BashError {
  return Object.assign(new BashError('ERR_BASH_TARGET', message), { reason, stderr: '' });
}

function closedError(): BashError {
  return new BashError('ERR_BASH_CLOSED', 'the pool was closed');
}
