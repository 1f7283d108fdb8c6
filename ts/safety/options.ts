import type { NativeSafety } from '../../native.cjs';
import type { BashOptions } from '../types.ts';
import type { SafetyOptions } from './types.ts';

/** Returns the rules and wrappers for the addon, without those that are left out. */
export function toNativeTables({ rules, wrappers }: SafetyOptions): NativeSafety {
  return { ...(rules && { rules: namesAndWords(rules) }), ...(wrappers && { wrappers: namesAndWords(wrappers) }) };
}

/** Returns the option of a command for the addon; `undefined` for the default. */
export function toNativeSafety(safety: BashOptions['safety']): NativeSafety | undefined {
  if (safety === undefined || safety === 'default') return undefined;
  if (safety === 'off') return { off: true };
  return { ...toNativeTables(safety), ...(safety.onAsk === 'deny' && { denyAsk: true }) };
}

function namesAndWords(entries: Record<string, string | undefined>): string[] {
  return Object.entries(entries).flatMap(([name, word]) => (word === undefined ? [] : [name, word]));
}
