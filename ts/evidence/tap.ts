import { rmSync } from '../core/builtins.ts';
import type { BashResult } from '../result.ts';
import type { Tap } from './types.ts';

/** The place of outputs, as far as a tap needs it. */
export interface TapStore {
  /** Takes a file over. Resolves with its number and place, or with the reason why it is not kept. */
  take(path: string): Promise<{ id: number; path: string } | string>;
}

/** Resolves with a result whose tap is in the store. */
export async function withTap(result: BashResult, store: () => TapStore): Promise<BashResult> {
  const { evidence } = result;
  const { tap } = evidence ?? {};
  if (!evidence || !tap || tap.path === null) return result;
  return { ...result, evidence: { ...evidence, tap: await taken(tap, tap.path, store()) } };
}

async function taken(tap: Tap, path: string, store: TapStore): Promise<Tap> {
  const place = await store.take(path);
  if (typeof place !== 'string') return { ...tap, ...place };
  // Nobody else knows of the file.
  rmSync(path, { force: true });
  return { ...tap, kept: false, why: `Its output could not be kept: ${place}.`, path: null, complete: false };
}
