import { BashError } from '../errors.ts';
import { handleOf } from '../registry/handle.ts';
import type { BashResult } from '../result.ts';
import type { Target } from '../target/types.ts';
import type { CommandOptions } from '../types.ts';
import type { PlacedCall, PoolParts } from './handle.ts';

/**
 * Calls `use` with the target of a call, and again with another one as long as nothing has begun there. The call ends
 * with the promise of `use`.
 */
export async function onPlace<T>(call: PlacedCall, use: (target: Target) => Promise<T>): Promise<T> {
  try {
    for (;;) {
      const target = await call.target();
      try {
        return await use(target);
      } catch (error) {
        if (!(error instanceof BashError) || error.code !== 'ERR_BASH_TARGET') throw error;
        call.retreat(error);
      }
    }
  } finally {
    call.end();
  }
}

/**
 * Runs a command on a place of a pool. `aborted` returns the result of a command that was aborted before it had a
 * place. Commands with the same affinity run in the same place.
 */
export async function runOnPlace<Result extends BashResult>(
  pool: PoolParts,
  { registry, signal }: Pick<CommandOptions, 'registry' | 'signal'>,
  affinity: unknown,
  use: (target: Target, call: PlacedCall) => Promise<Result>,
  aborted: () => Promise<Result>,
): Promise<Result> {
  const handle = handleOf(registry);
  const call = pool.call(affinity, signal);
  try {
    let note: string | null = null;
    return await onPlace(call, async (target) => {
      handle?.bind(target);
      note ??= call.takeNote();
      const result = await use(target, call);
      call.reportEnd(result.status === 'lost');
      return note === null ? result : { ...result, notes: [note, ...result.notes] };
    });
  } catch (error) {
    if (signal?.aborted && (error as Partial<BashError>).code === 'ABORT_ERR') return aborted();
    throw error;
  }
}
