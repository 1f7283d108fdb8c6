import { BashError } from 'agent-bash';
import { allEnded } from '../shared/all-ended.ts';
import { Commands } from '../shared/commands.ts';
import { needs } from '../shared/needs.ts';
import type { Run } from '../shared/types.ts';
import { AgentSession } from './agent-session.ts';
import type { AcpAgentTerminals } from './agent-types.ts';
import { Connections, checkSession, connectionOf, SDK } from './client.ts';
import { type Acp, Errors } from './errors.ts';
import type { Listener } from './feed.ts';

/** A request of `terminal/cancel`. */
interface Cancel {
  params: { sessionId: string; terminalId: string };
  client: object;
}

/** An agent app of the SDK, as far as it is used. */
interface App {
  onRequest(method: string, handler: (request: Cancel) => Promise<object>): unknown;
  onConnect(handler: (connection: { closed: Promise<void>; client: object }) => void): unknown;
}

/**
 * Shows the commands of an agent as terminals of its client. This is a draft of ACP v2, whose wire may change, so the
 * function is outside of the version promise.
 *
 * A client is told the command, its directory and that it can be cancelled, then its output in whole characters, then
 * its exit. Both streams are shown in the order of writing, cleaned, with progress lines in all their states.
 * `terminal/cancel` ends all that a command has started. It is -32602 for a terminal that is unknown, has ended, or is
 * another session's or connection's. A connection that closes ends its terminals, and closes its sessions.
 *
 * Throws `ERR_BASH_UNSUPPORTED` if `acp` lacks `RequestError`, and `ERR_BASH_INVALID_ARG` for invalid options.
 *
 * @example const terminals = experimental_acpAgentTerminals(acp); terminals.register(acp.agent());
 * @param acp the module `@agentclientprotocol/sdk/experimental/v2`, from 2.0.
 */
export function experimental_acpAgentTerminals(acp: Acp, options: Run = {}): AcpAgentTerminals {
  const sessions = new Sessions(new Errors(acp), new Commands('experimental_acpAgentTerminals', options));
  return {
    register: (app) => sessions.register(app),
    session: (client, sessionId) => sessions.get(client, sessionId),
  };
}

/** The open sessions of one adapter. */
class Sessions {
  readonly #errors: Errors;
  readonly #commands: Commands;
  readonly #open = new Set<AgentSession>();
  readonly #connections = new Connections();

  constructor(errors: Errors, commands: Commands) {
    this.#errors = errors;
    this.#commands = commands;
  }

  register<A>(given: A): A {
    needs('app', given, ['onRequest', 'onConnect'], SDK);
    const app = given as App;
    app.onConnect(({ closed, client }) => this.#connections.watch(client, closed, (gone) => this.#close(gone)));
    app.onRequest('terminal/cancel', (request) => this.#cancel(request));
    return given;
  }

  get(client: Listener, sessionId: string): AgentSession {
    needs('client', client, ['notify'], SDK);
    checkSession(sessionId);
    if (this.#connections.isClosed(client)) throw new BashError('ERR_BASH_CLOSED', 'client: its connection is closed');
    const known = this.#find(client, sessionId);
    if (known) return known;
    const session = new AgentSession(this.#commands, client, sessionId, async () => {
      this.#open.delete(session);
      if (this.#open.size === 0) await this.#commands.close();
    });
    this.#open.add(session);
    return session;
  }

  async #cancel({ params: { sessionId, terminalId }, client }: Cancel): Promise<object> {
    const ending = this.#find(client, sessionId)?.cancel(terminalId);
    if (!ending) throw this.#errors.invalid(`terminalId: no terminal ${terminalId} runs in this session`);
    await ending.catch((error) => {
      throw this.#errors.from(error);
    });
    return {};
  }

  async #close(gone: unknown): Promise<void> {
    const theirs = [...this.#open].filter(({ connection }) => connection === gone);
    await allEnded(theirs.map((session) => session.close()));
  }

  #find(client: object, id: string): AgentSession | undefined {
    return [...this.#open].find((one) => one.sessionId === id && one.connection === connectionOf(client));
  }
}
