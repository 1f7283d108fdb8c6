import type { NativeOptions } from '../../native.cjs';
import { resolve } from '../core/builtins.ts';
import { loadNative } from '../core/native.ts';
import { OWNER, type Owner } from '../core/world.ts';
import { BashError } from '../errors.ts';
import type { BashOptions } from '../types.ts';
import type { ConfineOptions } from './types.ts';

/** The world of a command, for the addon. */
interface NativeConfinement extends Pick<NativeOptions, 'owner' | 'root' | 'joins'> {
  /** `ConfineOptions` as JSON. */
  confine: string;
}

/** The options of the addon that name the world of a command; `null` for a command that is not confined. */
export function nativeConfinement(given: BashOptions): NativeConfinement | null {
  const options = confinementOf(given.confine);
  if (options === null) return null;
  const dir = typeof given.undo === 'object' ? given.undo.dir : undefined;
  // The store is hidden from the command.
  const confine = JSON.stringify(dir === undefined ? options : { ...options, store: resolve(dir) });
  const owner = (given as { [OWNER]?: Owner })[OWNER];
  if (owner === undefined) return { confine };
  return { confine, owner: owner.number, root: owner.root, ...(owner.joins && { joins: true }) };
}

/** Returns what `confine` stands for; `null` if commands are not confined. */
export function confinementOf(confine: BashOptions['confine']): ConfineOptions | null {
  const given = confine ?? confineByDefault();
  if (given === 'off') return null;
  return typeof given === 'string' ? { profile: given } : given;
}

/** The default, which tests of this package change to run every command confined. */
export function confineByDefault(): 'off' | 'read-only' | 'workspace' {
  const value = process.env.AGENT_BASH_CONFINE;
  if (value === undefined || value === '' || value === 'off') return 'off';
  if (value === 'read-only' || value === 'workspace') return value;
  throw new BashError(
    'ERR_BASH_INVALID_ARG',
    `AGENT_BASH_CONFINE: ${JSON.stringify(value)} is not one of off, read-only, workspace`,
  );
}

/** Makes the owner of the worlds of commands that belong together. `root` is an absolute path. */
export function newOwner(root: string): Owner {
  const native = new (loadNative().NativeOwner)();
  return { number: native.number, root, end: () => native.end() };
}
