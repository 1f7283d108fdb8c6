import type { Target } from '../target/types.ts';
import { keepPool } from './handle.ts';
import { checkAcquire, checkPool } from './options.ts';
import { Pool } from './pool.ts';
import type { Fleet, PlaceStats, TargetPoolOptions } from './types.ts';

/** Closes pools that nobody holds any more. The sessions, terminals and registries on a pool hold it. */
const forgotten = new FinalizationRegistry<Pool>((pool) => pool.closeUnheld());

/**
 * Machines that share the work. A pool is given as `target` wherever a `Target` is, to each call with its `affinity`:
 * calls with the same one run on the same place, where their files are.
 *
 * A run goes to the place with the fewest runs, then the fewest affinities, then the least load. It waits in the order
 * of the calls when all places are full, at most `queueMs`. It is placed again only if it never began. Three failed
 * connections in a row keep calls from a place for 5 s, and each further one for twice as long, up to 5 min.
 *
 * An idle pool keeps no process alive. One that is dropped without `close()` is closed after its last run and task,
 * once it is garbage-collected.
 */
export class TargetPool implements Fleet {
  readonly #pool: Pool;

  /**
   * Connects to nothing: an address is connected when a run is placed there. With `min`, places are asked for at once.
   *
   * Throws a `BashError`, `ERR_BASH_INVALID_ARG`, for an option that does not exist or has a wrong value, for two
   * targets of one name, and if there is neither a target nor a provider.
   *
   * @example const pool = new TargetPool({ targets: [{ ssh: 'build1' }, { ssh: 'build2' }] });
   */
  constructor(options: TargetPoolOptions) {
    checkPool(options);
    this.#pool = new Pool(options);
    keepPool(this, this.#pool);
    forgotten.register(this, this.#pool);
  }

  /**
   * Takes a place, connected, until `release()`. Rejects with `ERR_BASH_TARGET`: `timeout` if there was none within
   * `queueMs`, with the last failure in the message, and `lost`, once, if the place of the affinity is lost. Rejects
   * with `ABORT_ERR` when `signal` is aborted, and with `ERR_BASH_CLOSED` after `close()`.
   *
   * @example
   * const { target, release } = await pool.acquire({ affinity: 'chat-7' });
   * try {
   *   await target.writeFile('input.txt', 'text');
   * } finally {
   *   release();
   * }
   */
  async acquire(
    options: { affinity?: string | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<{ target: Target; release(): void }> {
    checkAcquire(options);
    const call = this.#pool.call(options.affinity, options.signal);
    try {
      return { target: await call.target(), release: () => call.end() };
    } catch (error) {
      call.end();
      throw error;
    }
  }

  /**
   * Places nothing new on a place, and closes it once its runs have ended; one of a provider is released. Its
   * affinities get other places. Resolves when it is gone. Rejects with `ERR_BASH_INVALID_ARG` for a name that no place
   * has.
   */
  async drain(id: string): Promise<void> {
    return this.#pool.drain(id);
  }

  /** The places and how busy they are, those of `targets` first. */
  stats(): PlaceStats[] {
    return this.#pool.stats();
  }

  /**
   * Closes the targets that the pool has connected, as `Target.close()` does, and releases the places of its provider.
   * Calls that wait reject with `ERR_BASH_CLOSED`. May be called again.
   */
  close(): Promise<void> {
    return this.#pool.close();
  }

  /** Same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
