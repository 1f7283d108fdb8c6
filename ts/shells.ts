import type { WarmShells } from '../native.cjs';
import { settled } from './bridge';
import { loadNative } from './native';
import { checkOptions } from './options';
import { toNative } from './request';
import type { BashOptions } from './types';

/**
 * Has a shell wait for the first command with these options, so that it need not start one either; later ones have theirs
 * by themselves. Of the options count `cwd`, `env`, `inheritEnv`, `shell`, `merge`, `limits`, and whether there is a `stdin`.
 *
 * Resolves with true once a shell waits, and with false where none can, so that commands with these options start cold:
 * `warm: false`, AGENT_BASH_WARM=0, another shell than bash, `args`, a BASH_ENV or POSIXLY_CORRECT in the environment,
 * macOS, a system that lets no process write to its child. Rejects as `bash()` does where nothing could be run.
 */
export async function warmUp(options: BashOptions = {}): Promise<boolean> {
  checkOptions('', options);
  const { mode, registry, onTimeout, onOutput, onSnapshot, onPrompt, signal, ...rest } = options;
  const request = toNative(':', rest);
  return settled<boolean>({
    ask: (way) => way.warmUp(...request),
    answer: (event) => event.waits,
  });
}

/** Tells how many shells wait for a command in this process, and how many commands had one. Starts nothing. */
export function warmShells(): WarmShells {
  return loadNative().warmShells();
}
