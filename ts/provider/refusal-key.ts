import type { BashToolInput } from '../ai/types.ts';

/** What a refusal of a call is kept by beside its id: all that it would run. */
export function refusalKey(inputs: readonly BashToolInput[]): string {
  return inputs.map(({ command }) => command ?? '').join('\0');
}
