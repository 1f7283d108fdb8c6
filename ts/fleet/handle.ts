import { type Check, invalid } from '../core/checks.ts';
import type { BashError } from '../errors.ts';
import { TARGET, thereOf } from '../target/handle.ts';
import type { Target } from '../target/types.ts';

/** A call that is placed, and placed again as long as it has not begun anywhere. */
export interface PlacedCall {
  /**
   * Returns a connected target. Rejects if there was none in time, the call was aborted, or the place of its affinity
   * is lost.
   */
  target(): Promise<Target>;
  /** The call has not begun on its target. It may be placed again. */
  retreat(error: BashError): void;
  /** The run of the call has ended. With `isLost`, its affinity knows of the loss of its place. */
  reportEnd(isLost: boolean): void;
  /** Returns why the affinity is not where it was, once. */
  takeNote(): string | null;
  /** Keeps the place while something of the call goes on there. */
  holdUntil(over: Promise<unknown>): void;
  /** Ends the call. Does nothing if it has ended. */
  end(): void;
}

/** The parts of a pool that its users do not reach. */
export interface PoolParts {
  /** Begins a call. Calls with the same key run in the same place. */
  call(affinity: unknown, signal?: AbortSignal): PlacedCall;
  /** Returns the target where an affinity is, if it has one. */
  targetOf(affinity: unknown): Target | null;
  /** Forgets an affinity that nobody has any more. */
  forget(affinity: unknown): void;
  /** Returns the targets that are connected. */
  connected(): Target[];
}

const pools = new WeakMap<object, PoolParts>();

export function keepPool(pool: object, parts: PoolParts): void {
  pools.set(pool, parts);
}

/** Returns the inner parts of a pool; `undefined` for any other value. */
export function poolOf(value: unknown): PoolParts | undefined {
  return typeof value === 'object' && value !== null ? pools.get(value) : undefined;
}

/** Returns the target on which the calls of an affinity run. `null`: a pool has given them no place, or lost it. */
export function placeOf(target: object, affinity: unknown): Target | null {
  const pool = poolOf(target);
  return pool ? pool.targetOf(affinity) : (target as Target);
}

/** Returns how errors name a machine, a pool, or this machine. */
export function placeName(target: unknown): string {
  if (target === undefined) return 'this machine';
  const there = thereOf(target);
  return there ? `the target ${there.id}` : 'a pool';
}

/** The check of a `target` that may be a pool. */
export const PLACE: Check = (value, name) => {
  if (!poolOf(value)) TARGET(value, name);
};

/** The check of `affinity`. */
export const AFFINITY: Check = (value, name) => {
  if (typeof value !== 'string' || value === '') throw invalid(name, value, 'a string that is not empty');
};
