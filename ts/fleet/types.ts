import type { ConnectOptions, Target, TargetAddress, TargetState } from '../target/types.ts';

/** A place that a provider has made. */
export interface ProvidedTarget {
  /** The name of the place, which replaces `address.name`. `release` is called with it. */
  id: string;
  /** How the place is reached. */
  address: TargetAddress & ConnectOptions;
  /** When the place ends by itself, in ms since the epoch. `null`: it stays until it is released. */
  expiresAt: number | null;
  /** Moves `expiresAt` to `until`, in ms since the epoch. Without it, the place ends at `expiresAt`. */
  renew?(until: number): Promise<void>;
}

/** Makes places for a pool, such as pods and jobs of a cluster. */
export interface TargetProvider {
  /**
   * Makes a place. `affinity` is that of the call which asks for it. `signal` is aborted when nobody waits for the
   * place any longer; nothing of it may be left then. A place that is returned all the same is released.
   */
  acquire(request: { affinity: string | null; signal: AbortSignal }): Promise<ProvidedTarget>;
  /**
   * Ends a place. `broken`: it was lost or could not be reached. The pool calls it once for each place.
   */
  release(id: string, how: { broken: boolean }): Promise<void>;
}

/** Options of a `TargetPool`. It has `targets`, a `provider` or both. */
export interface TargetPoolOptions {
  /**
   * Machines of the pool. An address is connected when a run is placed there, and closed with the pool. A `Target` of
   * `connect` is left open.
   *
   * @default []
   * @example new TargetPool({ targets: [{ ssh: 'build1' }, { ssh: 'build2', cwd: 'project' }] });
   */
  targets?: (Target | (TargetAddress & ConnectOptions))[] | undefined;
  /**
   * Makes further places when all are full.
   *
   * @default none
   * @example new TargetPool({ provider: agentSandboxes({ warmPool: 'agents' }), max: 20 });
   */
  provider?: TargetProvider | undefined;
  /**
   * Places of the provider that are kept though nobody uses them, a whole number from 0 to 10,000.
   *
   * @default 0
   * @example new TargetPool({ provider, min: 2 });
   */
  min?: number | undefined;
  /**
   * The most places of the provider at once, a whole number from 1 to 10,000.
   *
   * @default 8
   * @example new TargetPool({ provider, max: 50 });
   */
  max?: number | undefined;
  /**
   * Runs on one place at once, a whole number from 1 to 1,024. Further ones wait.
   *
   * @default 4
   * @example new TargetPool({ targets, perTarget: 16 });
   */
  perTarget?: number | undefined;
  /**
   * The longest wait for a place, in ms, a whole number from 0 to 86,400,000. Then the call rejects with
   * `ERR_BASH_TARGET`, reason `timeout`. With 0 a call that would wait rejects at once.
   *
   * @default 60_000
   * @example new TargetPool({ targets, queueMs: 10_000 });
   */
  queueMs?: number | undefined;
  /**
   * Time without a run after which a place of the provider is released, in ms, a whole number from 0 to 86,400,000.
   *
   * @default 300_000
   * @example new TargetPool({ provider, idleMs: 60_000 });
   */
  idleMs?: number | undefined;
}

/** A place of a pool, as `stats()` returns it. */
export interface PlaceStats {
  /** The name of the target. */
  id: string;
  /** The state of its target. `'new'`: it was not connected yet. `'draining'`: it takes no new runs. */
  state: TargetState | 'new' | 'draining';
  /** Runs on it now. */
  running: number;
  /** Calls that wait for it. Those that may run anywhere count at each place. */
  queued: number;
  /** The first number of /proc/loadavg there, as the last heartbeat told. 0: not known. */
  load: number;
  /** The memory that programs there can still get (`MemAvailable`), in bytes. 0: not known. */
  memoryFree: number;
  /** When the place is tried again after failed connections, in ms since the epoch. `null`: it is not avoided. */
  brokenUntil: number | null;
}

/** What a `TargetPool` does, which is given as `target` wherever a `Target` is. */
export interface Fleet extends AsyncDisposable {
  /** Takes a place, connected, until `release()`. */
  acquire(options?: {
    affinity?: string | undefined;
    signal?: AbortSignal | undefined;
  }): Promise<{ target: Target; release(): void }>;
  /** Places nothing new on a place, and closes it once its runs have ended. */
  drain(id: string): Promise<void>;
  /** The places and how busy they are. */
  stats(): PlaceStats[];
  /** Closes what the pool has connected. */
  close(): Promise<void>;
}
