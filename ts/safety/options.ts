import type { CommandOptions } from '../types.ts';
import type { SafetyOptions } from './types.ts';

/** Returns the option for the addon, which keeps the order of rules and wrappers. */
export function nativeSafety(safety: CommandOptions['safety']): unknown {
  return typeof safety === 'object' ? { ...entriesOf(safety), onAsk: safety.onAsk } : safety;
}

/** Returns the rules and wrappers as JSON for the addon. */
export function safetyTables(options: SafetyOptions): string {
  return JSON.stringify(entriesOf(options));
}

function entriesOf({ rules, wrappers }: SafetyOptions) {
  return { rules: rules && Object.entries(rules), wrappers: wrappers && Object.entries(wrappers) };
}
