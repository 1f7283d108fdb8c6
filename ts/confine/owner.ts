import type { NativeSession } from '../../native.cjs';
import { loadNative } from '../core/native.ts';
import { OWNER, type Owned, type Owner } from '../core/world.ts';
import { toNative } from '../request.ts';
import type { CommandOptions } from '../types.ts';
import { confinementOf } from './native.ts';
import { areCalled } from './secrets.ts';

/**
 * Makes the owner of the worlds of commands that belong together. `root` is an absolute path. `session` is given if the
 * commands are those of a session.
 */
export function newOwner(root: string, session?: NativeSession): Owner {
  const native = new (loadNative().NativeOwner)();
  const owner: Owner = {
    number: native.number,
    root,
    begin(options: CommandOptions) {
      // The worlds of a target, and those whose secrets are not known yet, begin with their first command.
      const confine = options.target ? null : confinementOf(options.confine);
      if (confine === null || !areCalled(confine.secrets)) return;
      const first: CommandOptions & Owned = { ...options, ...NOT_OF_FIRST, cwd: root, [OWNER]: owner };
      try {
        const request = toNative(':', first);
        native.begin(session ? { ...request, cwd: '' } : request, session);
      } catch {
        // The first command reports options that cannot be used.
      }
    },
    end: () => native.end(),
  };
  return owner;
}

/** Options of commands that say nothing about the shell of the first one. */
const NOT_OF_FIRST = {
  mode: undefined,
  registry: undefined,
  onTimeout: undefined,
  onOutput: undefined,
  onSnapshot: undefined,
  onPrompt: undefined,
  signal: undefined,
} satisfies CommandOptions;
