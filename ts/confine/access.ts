import { loadNative } from '../core/native.ts';
import type { Access, Reach } from '../core/world.ts';
import { BashError } from '../errors.ts';
import { ownEnvironment } from '../request.ts';
import type { CommandOptions } from '../types.ts';
import { nativeConfinement } from './native.ts';

/**
 * Returns the part of the access that the options do not allow yet: paths absolute and without links, hosts as entries
 * of `network.allow`. Relative paths start at `cwd`. Throws `ERR_BASH_CONFINEMENT` for access that cannot be granted.
 */
export function checkAccess(options: CommandOptions, cwd: string, access: Access): Access {
  const world = nativeConfinement(options);
  // Without confinement everything is allowed.
  if (world === undefined) return { write: [], network: [] };
  const { options: confine, root = cwd } = world;
  try {
    return JSON.parse(
      loadNative().checkAccess(JSON.stringify(confine), root, cwd, ownEnvironment(), JSON.stringify(access)),
    ) as Access;
  } catch (error) {
    throw new BashError('ERR_BASH_CONFINEMENT', (error as Error).message);
  }
}

/** Returns the reach that a confinement leaves. `null` if a command with these options is not confined. */
export function reachOf(options: CommandOptions, cwd: string): Reach | null {
  const world = nativeConfinement(options);
  if (world === undefined) return null;
  const { options: confine, root = cwd } = world;
  try {
    return JSON.parse(loadNative().confinementReach(JSON.stringify(confine), root, ownEnvironment())) as Reach;
  } catch (error) {
    throw new BashError('ERR_BASH_CONFINEMENT', (error as Error).message);
  }
}
