import { loadNative } from '../core/native.ts';
import { BashError } from '../errors.ts';
import { thereOf } from '../target/handle.ts';
import { connectTo } from '../target/index.ts';
import { nativeAddress } from '../target/options.ts';
import type { ConnectOptions, Target, TargetAddress, TargetListener } from '../target/types.ts';
import { Breaker } from './breaker.ts';
import { PlaceLoad } from './placement.ts';
import type { PlaceStats, ProvidedTarget } from './types.ts';

/**
 * What a place tells its pool. `'failed'`: an attempt to connect it. `'cut'`, `'back'`: its link, or the pause of its
 * breaker is over. `'gone'`: its target was closed.
 */
export type PlaceChange = 'connected' | 'failed' | 'cut' | 'back' | 'lost' | 'gone';

/** A machine of a pool, and what connects it. */
export class Place extends PlaceLoad {
  readonly id: string;
  /** The place as its provider gave it; `null`: it is one of `targets`. */
  readonly provided: ProvidedTarget | null;
  readonly breaker: Breaker;
  isDraining = false;
  /** Tasks of its runs that go on. */
  tasks = 0;
  readonly #address: (TargetAddress & ConnectOptions) | null;
  readonly #onChange: (place: Place, change: PlaceChange, error?: unknown) => void;
  readonly #given = new AbortController();
  #target: Target | null = null;
  #connecting: Promise<Target> | null = null;
  /** Ends an attempt to connect a target whose link is cut: calls would wait there. */
  #onCut = () => {};
  #listening: [Parameters<Target['on']>[0], TargetListener][] = [];

  constructor(
    given: Target | (TargetAddress & ConnectOptions),
    provided: ProvidedTarget | null,
    onChange: (place: Place, change: PlaceChange, error?: unknown) => void,
  ) {
    super();
    this.provided = provided;
    this.#onChange = onChange;
    this.breaker = new Breaker(() => onChange(this, 'back'));
    if (thereOf(given)) {
      this.#address = null;
      this.id = (given as Target).id;
      this.#watch(given as Target);
    } else {
      const address = given as TargetAddress & ConnectOptions;
      this.id = provided?.id ?? address.name ?? idOf(address);
      this.#address = { ...address, name: this.id };
    }
  }

  get state(): PlaceStats['state'] {
    return this.isDraining ? 'draining' : (this.#target?.state ?? 'new');
  }

  /** Whether new runs may be placed here. */
  get takesRuns(): boolean {
    const state = this.#target?.state ?? 'new';
    return !this.isDraining && !this.breaker.isOpen && state !== 'disconnected' && state !== 'closed';
  }

  /** The target, if it is connected. */
  get connected(): Target | null {
    return this.#target?.state === 'connected' ? this.#target : null;
  }

  /** Connects the place, or waits until somebody else's attempt has ended. */
  connect(): Promise<Target> {
    this.#connecting ??= this.#attempt();
    return this.#connecting;
  }

  async #attempt(): Promise<Target> {
    try {
      const target = await this.#connect();
      this.#onChange(this, 'connected');
      return target;
    } catch (error) {
      this.#onChange(this, error instanceof CutError ? 'cut' : 'failed', error);
      throw error;
    } finally {
      this.#connecting = null;
    }
  }

  async #connect(): Promise<Target> {
    if (this.#target) {
      if (this.#target.state === 'disconnected') throw new CutError();
      const target = this.#target;
      try {
        await new Promise<unknown>((resolve, reject) => {
          this.#onCut = () => reject(new CutError());
          // A target that is lost connects anew with its next call.
          target.stat('.').then(resolve, reject);
        });
      } finally {
        this.#onCut = () => {};
      }
      return target;
    }
    const target = await connectTo({
      ...(this.#address as TargetAddress & ConnectOptions),
      signal: this.#given.signal,
    });
    this.#watch(target);
    return target;
  }

  /** Reads the load that the last heartbeat has told. */
  readLoad(): void {
    const told = this.#target && thereOf(this.#target)?.native.load();
    if (!told) return;
    this.load = told.load;
    this.memoryFree = told.memoryFree;
  }

  /** Leaves the target alone, and closes it if the pool has connected it. */
  async close(): Promise<void> {
    this.breaker.close();
    this.#given.abort();
    for (const [event, listener] of this.#listening) this.#target?.off(event, listener);
    this.#listening = [];
    await this.#connecting?.catch(() => {});
    if (this.#address) await this.#target?.close();
  }

  #watch(target: Target): void {
    this.#target = target;
    const on = (event: Parameters<Target['on']>[0], change: PlaceChange) => {
      const listener = () => {
        if (change === 'cut') this.#onCut();
        this.#onChange(this, change);
      };
      this.#listening.push([event, listener]);
      target.on(event, listener);
    };
    on('disconnected', 'cut');
    on('reconnected', 'back');
    on('lost', 'lost');
    on('closed', 'gone');
  }
}

/** The link of a target is cut, which may be known before its event. */
class CutError extends Error {}

function idOf(address: TargetAddress): string {
  try {
    return loadNative().targetId(nativeAddress(address));
  } catch (error) {
    throw new BashError('ERR_BASH_INVALID_ARG', `targets: ${(error as Error).message}`);
  }
}
