import { BashError, type BashOptions } from 'agent-bash';

/** A package that an adapter is given a part of. */
export interface Package {
  name: string;
  /** The lowest version that has all members. */
  lowest: string;
}

/** Throws `ERR_BASH_UNSUPPORTED` for an argument that lacks one of the functions that an adapter calls. */
export function needs(argument: string, given: unknown, members: readonly string[], { name, lowest }: Package): void {
  const missing = members.find((member) => typeof memberOf(given, member) !== 'function');
  if (missing === undefined) return;
  const what = missing === '' ? argument : `${argument}.${missing}`;
  throw new BashError(
    'ERR_BASH_UNSUPPORTED',
    `${what} is not there: it comes from ${name}, version ${lowest} or later`,
  );
}

/** Returns the error of an option that has no place in an adapter, for this reason. */
export function noPlace(option: string, why: string): BashError {
  return new BashError('ERR_BASH_UNSUPPORTED', `${option} has no place here: ${why}`);
}

/** Throws `ERR_BASH_UNSUPPORTED` for commands in the background, which have no place in an adapter for this reason. */
export function refuseBackground({ mode, onTimeout }: BashOptions, why: string): void {
  if (mode === 'background') throw noPlace('mode: "background"', why);
  if (onTimeout === 'background') throw noPlace('onTimeout: "background"', why);
}

/** Returns the member with this path; `''` is the argument itself. */
function memberOf(given: unknown, path: string): unknown {
  return path.split('.').reduce((value, name) => (name === '' ? value : Object(value)[name]), given);
}
