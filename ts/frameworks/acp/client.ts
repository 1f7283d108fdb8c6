import { bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { messageOf } from '../../core/listener.ts';
import { allEnded } from '../shared/all-ended.ts';
import type { Commands } from '../shared/commands.ts';
import { needs } from '../shared/needs.ts';

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

/** An app of the SDK, as far as it is used. `Peer` is the member of requests and connections that is their context. */
export interface App<Peer extends 'agent' | 'client'> {
  onRequest(method: string, handler: (request: Record<Peer, object> & Request<never>) => Promise<unknown>): unknown;
  onConnect(handler: (connection: Record<Peer, object> & { closed: Promise<void> }) => void): unknown;
}

/** A request. */
export interface Request<Params> {
  params: Params;
  signal: AbortSignal;
}

/** A terminal or a session that is open. */
interface Owned {
  readonly sessionId: string;
  readonly connection: unknown;
  /** Ends its processes. Resolves when they are gone. */
  end(): Promise<void>;
}

/** What is open in an app. It ends with its connection. */
export class Opened<T extends Owned> {
  readonly commands: Commands;
  readonly #open = new Set<T>();
  readonly #closed = new WeakSet<object>();

  constructor(commands: Commands) {
    this.commands = commands;
  }

  /** Returns an app. What a connection of it has open ends once that closes. */
  within<Peer extends 'agent' | 'client'>(given: unknown, peer: Peer): App<Peer> {
    needs('app', given, ['onRequest', 'onConnect'], SDK);
    const app = given as App<Peer>;
    app.onConnect((opened) => {
      const connection = connectionOf(opened[peer]);
      const ends = () => {
        if (typeof connection === 'object' && connection !== null) this.#closed.add(connection);
        return this.end((one) => one.connection === connection);
      };
      // Nobody is left who could be told of what cannot be ended.
      opened.closed.then(ends).catch((error) => process.emitWarning(messageOf(error), { code: 'AGENT_BASH_TERMINAL' }));
    });
    return app;
  }

  /** Whether the connection of a context has closed. */
  isClosed(context: object): boolean {
    return this.#closed.has(connectionOf(context) as object);
  }

  add(one: T): void {
    this.#open.add(one);
  }

  delete(one: T): void {
    this.#open.delete(one);
  }

  /** Returns what is open in this session of the connection of a context. */
  find(context: object, sessionId: string, is: (one: T) => boolean = () => true): T | undefined {
    const connection = connectionOf(context);
    return [...this.#open].find((one) => one.connection === connection && one.sessionId === sessionId && is(one));
  }

  /** Closes these, and ends them. Resolves when no process is left. */
  async end(which: (one: T) => boolean): Promise<void> {
    const ending = [...this.#open].filter(which);
    for (const one of ending) this.#open.delete(one);
    const ends = ending.map((one) => one.end());
    await allEnded(this.#open.size === 0 ? [...ends, this.commands.close()] : ends);
  }
}
