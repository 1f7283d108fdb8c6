import type { BashToolOptions } from 'agent-bash/ai';
import { startFolder } from './roots.ts';
import type { ToolCall } from './server.ts';

/** Returns whether commands start in a session's directory, a sandbox or a target, whatever the client's roots are. */
export function hasOwnFolder({ session, sandbox, target }: Partial<BashToolOptions>): boolean {
  return session !== undefined || target !== undefined || (sandbox !== undefined && sandbox !== null);
}

/**
 * Returns the options of a call whose command starts in the client's first root, or else in `folder`. `perCall` takes
 * precedence. The notes are about the roots. A command that starts elsewhere has no notes. The notes are complete once
 * the call is over.
 */
export async function startingIn(
  options: BashToolOptions,
  call: ToolCall,
  folder: string,
): Promise<{ options: BashToolOptions; notes: () => string[] }> {
  if (hasOwnFolder(options)) return { options, notes: () => [] };
  const start = await startFolder(call, folder);
  let { notes } = start;
  const perCall: BashToolOptions['perCall'] = (asked) => {
    const given = options.perCall?.(asked);
    if (given?.cwd === undefined && !hasOwnFolder(given ?? {})) return { ...given, cwd: start.cwd };
    notes = [];
    return given;
  };
  return { options: { ...options, perCall }, notes: () => notes };
}
