import { BashError } from '../errors.ts';
import { checkConnect } from '../target/options.ts';
import { Breaker } from './breaker.ts';
import type { ProvidedTarget, TargetProvider } from './types.ts';

/** What the provider is asked for, and what it needs to know of the pool. */
export interface Demand {
  /** The places of the provider that the pool has. */
  places(): number;
  /** Calls that may go anywhere and wait. */
  waiting(): number;
  /** The affinity of one of these calls; 0 is the oldest. */
  affinityOf(index: number): string | null;
  /** Takes a place that was made. Throws if the pool cannot use it. */
  take(place: ProvidedTarget): void;
  /** An attempt to get a place has failed. */
  onFailure(error: unknown): void;
}

/** Asks a provider for places while calls wait, and gives each place back once. */
export class ProvidedPlaces {
  readonly breaker = new Breaker(() => this.ask());
  readonly #provider: TargetProvider;
  readonly #bounds: { min: number; max: number; perTarget: number };
  readonly #demand: Demand;
  readonly #asking = new Map<AbortController, Promise<void>>();
  readonly #releasing = new Set<Promise<void>>();
  #isClosed = false;

  constructor(provider: TargetProvider, bounds: { min: number; max: number; perTarget: number }, demand: Demand) {
    this.#provider = provider;
    this.#bounds = bounds;
    this.#demand = demand;
  }

  /** Asks for as many places as are wanted, and gives up asking for those that are not wanted any more. */
  ask(): void {
    const { min, max, perTarget } = this.#bounds;
    if (this.#isClosed) return;
    const held = this.#demand.places();
    const forCalls = Math.ceil(this.#demand.waiting() / perTarget);
    const wanted = Math.min(max - held, Math.max(forCalls, min - held));
    while (this.#asking.size < wanted && !this.breaker.isOpen) {
      this.#begin(this.#demand.affinityOf(this.#asking.size * perTarget));
    }
    for (const controller of [...this.#asking.keys()].slice(Math.max(0, wanted))) controller.abort();
  }

  #begin(affinity: string | null): void {
    const controller = new AbortController();
    const asked = this.#acquire(affinity, controller.signal).finally(() => {
      this.#asking.delete(controller);
      this.ask();
    });
    this.#asking.set(controller, asked);
  }

  async #acquire(affinity: string | null, signal: AbortSignal): Promise<void> {
    let place: ProvidedTarget | undefined;
    try {
      // What it throws at once is a failure like any other.
      place = await (async () => this.#provider.acquire({ affinity, signal }))();
      if (signal.aborted) return this.release(place.id, false);
      checkProvided(place);
      this.#demand.take(place);
    } catch (error) {
      const { id } = Object(place) as { id?: unknown };
      if (typeof id === 'string' && !(error instanceof DuplicateError)) this.release(id, true);
      if (signal.aborted) return;
      this.breaker.fail();
      this.#demand.onFailure(error);
    }
  }

  /** Gives a place back. A failure is a warning: the place ends with its lease. */
  release(id: string, broken: boolean): void {
    const released = (async () => this.#provider.release(id, { broken }))().catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      process.emitWarning(`the place ${id} was not released: ${message}`, { code: 'AGENT_BASH_POOL' });
    });
    this.#releasing.add(released);
    void released.finally(() => this.#releasing.delete(released));
  }

  /** Asks for nothing more. What is still given is given back. */
  stop(): void {
    this.#isClosed = true;
    this.breaker.close();
    for (const controller of this.#asking.keys()) controller.abort();
  }

  /** Asks for nothing more. Resolves when all answers have come and all places are given back. */
  async close(): Promise<void> {
    this.stop();
    await Promise.all(this.#asking.values());
    while (this.#releasing.size > 0) await Promise.all(this.#releasing);
  }
}

/** The error of a place whose id is that of another one, which must not be released for it. */
export class DuplicateError extends BashError {
  constructor(message: string) {
    super('ERR_BASH_INVALID_ARG', message);
  }
}

function checkProvided(place: ProvidedTarget): void {
  const { id, address, expiresAt, renew } = Object(place) as Partial<Record<keyof ProvidedTarget, unknown>>;
  const wrong = (name: string, wanted: string) =>
    new BashError('ERR_BASH_INVALID_ARG', `the provider's place has ${name} that is not ${wanted}`);
  if (typeof id !== 'string' || id === '') throw wrong('an id', 'a name');
  if (expiresAt !== null && !Number.isFinite(expiresAt)) throw wrong('an expiresAt', 'a time in ms or null');
  if (renew !== undefined && typeof renew !== 'function') throw wrong('a renew', 'a function');
  if (typeof address !== 'object' || address === null) throw wrong('an address', 'that of a target');
  checkConnect(address);
}
