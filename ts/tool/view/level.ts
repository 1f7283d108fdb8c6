import type { ReduceOptions } from 'agent-bash';
import type { Level } from '../../reduce/keeping.ts';
import type { BashToolOptions } from '../types.ts';

/** Returns the level of an option. The run rejects a wrong value. */
export function levelOf(reduce: BashToolOptions['reduce']): Level {
  return typeof reduce === 'object' ? (reduce?.level ?? 'lossless') : (reduce ?? 'off');
}

/** Returns the option with nothing left out. */
export function withoutGaps<T extends BashToolOptions['reduce']>(reduce: T): T | 'lossless' | ReduceOptions {
  if (levelOf(reduce) !== 'salient') return reduce;
  return typeof reduce === 'object' ? { ...reduce, level: 'lossless' } : 'lossless';
}

/** Whether the text of a success with standard output alone is that output alone. */
export function isBare(level: Level): boolean {
  return level === 'lossless' || level === 'salient';
}
