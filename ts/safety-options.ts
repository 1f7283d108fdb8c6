import type { NativeSafety } from '../native.cjs';
import type { BashOptions, SafetyOptions } from './types';

/** The rules and wrappers as the core takes them; nothing where there are none. */
export function toNativeTables({ rules, wrappers }: SafetyOptions): NativeSafety {
  return { ...(rules && { rules: inTurn(rules) }), ...(wrappers && { wrappers: inTurn(wrappers) }) };
}

/** The option of a command; `undefined` where all is as by default. */
export function toNativeSafety(safety: BashOptions['safety']): NativeSafety | undefined {
  if (safety === undefined || safety === 'default') return undefined;
  if (safety === 'off') return { off: true };
  return { ...toNativeTables(safety), ...(safety.onAsk === 'deny' && { denyAsk: true }) };
}

function inTurn(entries: Record<string, string | undefined>): string[] {
  return Object.entries(entries).flatMap(([name, word]) => (word === undefined ? [] : [name, word]));
}
