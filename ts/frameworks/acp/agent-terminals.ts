import { BashError } from 'agent-bash';
import { Commands } from '../shared/commands.ts';
import { needs } from '../shared/needs.ts';
import type { Run } from '../shared/types.ts';
import { AgentSession } from './agent-session.ts';
import type { AcpAgentTerminals } from './agent-types.ts';
import { checkSession, Opened, type Request, SDK } from './client.ts';
import { type Acp, Errors } from './errors.ts';

/** A request of `terminal/cancel`. */
type Cancel = Request<{ sessionId: string; terminalId: string }> & { client: object };

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
  const errors = new Errors(acp);
  const open = new Opened<AgentSession>(new Commands('experimental_acpAgentTerminals', options));
  return {
    register(given) {
      open.within(given, 'client').onRequest('terminal/cancel', async ({ params, client }: Cancel) => {
        const { sessionId, terminalId } = params;
        const ending = open.find(client, sessionId)?.cancel(terminalId);
        if (!ending) throw errors.invalid(`terminalId: no terminal ${terminalId} runs in this session`);
        return await errors.answer(ending);
      });
      return given;
    },
    session(client, sessionId) {
      needs('client', client, ['notify'], SDK);
      checkSession(sessionId);
      if (open.isClosed(client)) throw new BashError('ERR_BASH_CLOSED', 'client: its connection is closed');
      const known = open.find(client, sessionId);
      if (known) return known;
      const session = new AgentSession(open, client, sessionId);
      open.add(session);
      return session;
    },
  };
}
