import type { BashResult } from '../result.ts';
import type { There } from '../target/handle.ts';
import type { Tap } from './types.ts';

/** The place of outputs, as far as a tap needs it. */
export interface TapStore {
  /**
   * Takes a file over, or with `there` a file of a target, which stays there. Resolves with its number and place, or
   * with the reason why it is not kept, and then removes it.
   */
  take(path: string, bytes: number, there: There | undefined): Promise<{ id: number; path: string } | string>;
}

/** Resolves with a result whose tap is in the store. */
export async function withTap(
  result: BashResult,
  store: () => TapStore,
  there: There | undefined,
): Promise<BashResult> {
  const { evidence } = result;
  const { tap } = evidence ?? {};
  if (!evidence || !tap || tap.path === null) return result;
  const place = await store().take(tap.path, tap.bytes, there);
  const kept = typeof place === 'string' ? lost(tap, place) : { ...tap, ...place };
  return { ...result, evidence: { ...evidence, tap: kept } };
}

function lost(tap: Tap, why: string): Tap {
  return { ...tap, kept: false, why: `Its output could not be kept: ${why}.`, path: null, complete: false };
}
