import { nothingRan } from '../tool/call/judge.ts';
import { executorOf } from '../tool/executor.ts';
import type { BashToolError, BashToolOptions } from '../tool/types.ts';
import type { AnthropicRestart } from './types.ts';

const NOTHING_TO_RESTART: AnthropicRestart = {
  restarted: false,
  message: 'There was nothing to restart: each command has a fresh shell, and nothing is left of the ones before.',
};

/** Resets the session of a call once the commands before it have ended. Never throws. */
export async function restart(
  options: BashToolOptions,
  signal: AbortSignal | undefined,
): Promise<AnthropicRestart | BashToolError> {
  try {
    const executor = executorOf(options);
    if (executor.kind !== 'session') return NOTHING_TO_RESTART;
    const { session } = executor;
    if (signal?.aborted) return { error: 'the call was interrupted: nothing was restarted', code: 'ABORT_ERR' };
    if (await interrupted(session.reset(), signal)) {
      return { error: 'the call was interrupted; the shell is restarted when its command ends', code: 'ABORT_ERR' };
    }
    return { restarted: true, message: `The shell was restarted: it remembers nothing, and is in ${session.cwd}.` };
  } catch (error) {
    return nothingRan(error, 'ERR_BASH_SPAWN');
  }
}

/** Waits for the work until the call is aborted. */
async function interrupted(working: Promise<void>, signal: AbortSignal | undefined): Promise<boolean> {
  let stop = () => {};
  const aborted = new Promise<boolean>((resolve) => {
    stop = () => resolve(true);
  });
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([working.then(() => false), aborted]);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
