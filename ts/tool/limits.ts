import { bash } from 'agent-bash';
import { innerOf } from '../core/inner.ts';

/** Bounds of the time limit that a model may ask for, in ms. */
export const SHORTEST_LIMIT_MS = 1_000;
export const LONGEST_LIMIT_MS = 3_600_000;

/** Returns the longest time limit of a command in the background, in ms. */
export function longestBackgroundMs(): number {
  return innerOf(bash).facts().request.maxLimitMs;
}

/** Returns the time limit of a mode in words. `moves`: whether the command then moves to the background. */
export function modeLimit(mode: string | undefined, moves = false): string {
  const { modeLimitsMs, movingLimitMs } = innerOf(bash).facts().request;
  if (mode === 'slow' || mode === 'background') return inWords(modeLimitsMs[mode]);
  return inWords(moves ? movingLimitMs : modeLimitsMs.default);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** `30 s`, `120 s`, `15 min`, `24 h`. */
function inWords(ms: number): string {
  if (ms % HOUR_MS === 0) return `${ms / HOUR_MS} h`;
  if (ms % MINUTE_MS === 0 && ms > 2 * MINUTE_MS) return `${ms / MINUTE_MS} min`;
  return `${ms / 1_000} s`;
}
