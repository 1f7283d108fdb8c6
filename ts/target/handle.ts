import type { NativeTarget } from '../../native.cjs';
import { resolve } from '../core/builtins.ts';
import { type Check, invalid } from '../core/checks.ts';
import { BashError } from '../errors.ts';

/** The parts of a target that its users do not reach. */
export interface There {
  readonly id: string;
  readonly native: NativeTarget;
  /** The directory in which commands start. */
  readonly cwd: string;
  /** Variables of all commands. */
  readonly env: Record<string, string | null | undefined> | undefined;
}

const targets = new WeakMap<object, There>();

export function keepThere(target: object, there: There): void {
  targets.set(target, there);
}

/** Returns the inner parts of a target; `undefined` for any other value. */
export function thereOf(target: unknown): There | undefined {
  return typeof target === 'object' && target !== null ? targets.get(target) : undefined;
}

/** Returns the absolute path of a file or directory, here or on the target of a command. */
export function pathOn(target: unknown): (path: string) => string {
  const there = thereOf(target);
  return there ? (path) => resolve(there.cwd, path) : (path) => resolve(path);
}

/** The check of `target`. */
export const TARGET: Check = (value, name) => {
  const there = thereOf(value);
  if (!there) throw invalid(name, value, 'a target of `connect`');
  if (there.native.state === 'closed') throw new BashError('ERR_BASH_CLOSED', `${name}: ${there.id} was closed`);
};
