import { bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';

/** The package that the adapters are given parts of. */
export const SDK = { name: '@agentclientprotocol/sdk', lowest: '2.0.0' };

/** A context by which an agent calls its client, as far as it is used. */
export interface Client {
  // biome-ignore lint/suspicious/noExplicitAny: the SDK has an overload for each method
  request<T = any>(
    method: string,
    params: object,
    options?: { cancellationSignal?: AbortSignal; stopWaitingOnCancel?: boolean },
  ): Promise<T>;
}

/** Throws `ERR_BASH_INVALID_ARG` for a session that has no name. */
export function checkSession(sessionId: unknown): void {
  if (typeof sessionId !== 'string') throw innerOf(bash).invalid('sessionId', sessionId, 'a string');
}

/**
 * Returns the connection of a context: each request has a context of its own. Contexts without this member count as
 * those of one connection.
 */
export function connectionOf(context: object): unknown {
  return (context as { cx?: unknown }).cx;
}
