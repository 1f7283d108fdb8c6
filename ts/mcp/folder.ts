import type { BashToolOptions } from 'agent-bash/ai';
import { startFolder } from './roots.ts';
import type { ToolCall } from './server.ts';

/** Whether commands start elsewhere, whatever the roots of the client: where their session is, or in a sandbox, whose folders are not ours. */
export function hasOwnFolder({ session, sandbox }: Partial<BashToolOptions>): boolean {
  return session !== undefined || (sandbox !== undefined && sandbox !== null);
}

/**
 * The options of a call whose command starts in the client's first root, else in `folder`; what `perCall` says goes before that. The notes are those on
 * the roots, none for a command that started elsewhere, and are known once the call is over.
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
