import type { Bridge, WarmShells } from '../native.cjs';
import type { BashOptions } from './bash-options.ts';
import { settled } from './core/calls.ts';
import { loadNative } from './core/native.ts';
import { poolOf } from './fleet/handle.ts';
import { onPlace } from './fleet/placed.ts';
import { checkOptions } from './options.ts';
import { toNative } from './request.ts';
import { thereOf } from './target/handle.ts';

/**
 * Starts a warm shell for the first command with these options. Later commands get theirs without a call. The options
 * that count are `cwd`, `env`, `inheritEnv`, `shell`, `merge`, `limits`, whether there is a `stdin`, and whether
 * changes are recorded (`receipt`, `undo`). With `confine` it makes the namespaces of the command as well.
 *
 * It waits for a place among the commands that run at once. Resolves with true once the shell is warm. Resolves with
 * false if commands with these options always start cold: with `warm: false`, AGENT_BASH_WARM=0, a shell other than
 * bash, `args`, a BASH_ENV or POSIXLY_CORRECT in the environment, on macOS, and on a system that lets no process write
 * to its child. Rejects as `bash()` does if nothing could be run.
 */
export async function warmUp(options: BashOptions = {}): Promise<boolean> {
  checkOptions('warmUp', '', options);
  const pool = poolOf(options.target);
  if (pool) return onPlace(pool.call(options.affinity, options.signal), (target) => warmUp({ ...options, target }));
  const { mode, registry, onTimeout, onOutput, onSnapshot, onPrompt, signal, ...rest } = options;
  const there = thereOf(options.target);
  const begin = (way: Bridge) => (there?.native ?? way).warmUp(toNative(':', rest));
  return settled({ begin, kind: 'warm', answer: ({ ready }) => ready, target: there?.id });
}

/** Counts the warm shells of this process and the commands that used one. Starts nothing. */
export function warmShells(): WarmShells {
  return loadNative().warmShells();
}
