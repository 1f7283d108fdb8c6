import { bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { messageOf } from '../../core/listener.ts';

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

/** The connections of an app, as far as they have closed. */
export class Connections {
  readonly #closed = new WeakSet<object>();

  /** Calls `end` once the connection of a context closes. */
  watch(context: object, closed: Promise<void>, end: (connection: unknown) => Promise<void>): void {
    const connection = connectionOf(context);
    const ends = () => {
      if (typeof connection === 'object' && connection !== null) this.#closed.add(connection);
      return end(connection);
    };
    // Nobody is left who could be told of what cannot be ended.
    closed.then(ends).catch((error) => process.emitWarning(messageOf(error), { code: 'AGENT_BASH_TERMINAL' }));
  }

  /** Whether the connection of a context has closed. */
  isClosed(context: object): boolean {
    return this.#closed.has(connectionOf(context) as object);
  }
}
