import type { BashToolInput } from '../types.ts';

/** Returns the key of a refused call: its id and everything it would run. */
export function refusalKey(inputs: readonly BashToolInput[]): string {
  return inputs.map(({ command }) => command ?? '').join('\0');
}
