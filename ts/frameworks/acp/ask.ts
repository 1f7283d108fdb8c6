import { randomUUID } from 'node:crypto';
import { BashError } from 'agent-bash';
import { PLAIN } from '../../core/option-names.ts';
import { checkOptionNames } from '../../tool/options.ts';
import { needs } from '../shared/needs.ts';
import type { Question } from '../shared/types.ts';
import { type Client, checkSession, SDK } from './client.ts';

/** The answer of a person. */
export interface AcpAnswer {
  /** `'always'`: the suggested rules allow from now on. */
  approved: boolean | 'always';
  /** Why it was not approved; missing otherwise. */
  reason?: string;
}

/** The answer of `session/request_permission`. */
interface Permission {
  outcome: { outcome: string; optionId?: string };
}

/**
 * Makes an `onAsk` that asks by `session/request_permission` (ACP v1, and the draft of v2, by the version of the
 * module). The options are «allow once», «reject once», and «always allow» only if there are rules to suggest, which
 * its name lists. The question is withdrawn if its signal aborts, which is no approval. Rejects if the client cannot be
 * asked; an `onAsk` that rejects is no approval.
 *
 * Throws `ERR_BASH_UNSUPPORTED` if `acp` speaks another version or `client` has no `request`, and
 * `ERR_BASH_INVALID_ARG` for invalid options.
 *
 * @example const approval = { ask: ['git push:*'], onAsk: acpAsk(acp, client, { sessionId }) };
 * @param acp the module `@agentclientprotocol/sdk`, from 2.0, or its `/experimental/v2`.
 * @param client the `client` of an agent's handler, or of its connection.
 */
export function acpAsk(
  acp: { PROTOCOL_VERSION: number },
  client: Client,
  options: { sessionId: string },
): (question: Question, call: { signal: AbortSignal }) => Promise<AcpAnswer> {
  const version = Object(acp).PROTOCOL_VERSION;
  if (version !== 1 && version !== 2) {
    const wanted = `it is 1 or 2 in ${SDK.name}, version ${SDK.lowest} or later`;
    throw new BashError('ERR_BASH_UNSUPPORTED', `acp.PROTOCOL_VERSION is ${version}: ${wanted}`);
  }
  needs('client', client, ['request'], SDK);
  checkOptionNames('acpAsk', options, { sessionId: PLAIN });
  const { sessionId } = options;
  checkSession(sessionId);
  return async (question, { signal }) => {
    const cancel = { cancellationSignal: signal, stopWaitingOnCancel: true };
    const params = { sessionId, ...(version === 1 ? asToolCall(question) : asCommand(question)), ...choices(question) };
    try {
      const { outcome } = await client.request<Permission>('session/request_permission', params, cancel);
      return answerOf(outcome, question);
    } catch (error) {
      if (signal.aborted) return WITHDRAWN;
      throw error;
    }
  };
}

const WITHDRAWN: AcpAnswer = { approved: false, reason: 'the question was withdrawn: nothing was run' };
const REFUSED: AcpAnswer = { approved: false, reason: 'a person has refused this command: nothing was run' };

function answerOf({ outcome, optionId }: Permission['outcome'], { suggestRules }: Question): AcpAnswer {
  if (outcome !== 'selected') return WITHDRAWN;
  if (optionId === 'allow_once') return { approved: true };
  return optionId === 'allow_always' && suggestRules.length > 0 ? { approved: 'always' } : REFUSED;
}

/** The choices of a person. */
function choices({ suggestRules }: Question) {
  const option = (kind: string, name: string) => ({ optionId: kind, kind, name });
  const always = suggestRules.length > 0 ? [option('allow_always', `Always allow ${suggestRules.join(', ')}`)] : [];
  return { options: [option('allow_once', 'Allow once'), ...always, option('reject_once', 'Reject')] };
}

/** The question of v1: about a tool call, which has an id. */
function asToolCall({ toolCallId, command, cwd, reason }: Question) {
  return {
    toolCall: {
      toolCallId: toolCallId || randomUUID(),
      title: command,
      kind: 'execute',
      status: 'pending',
      rawInput: { command, cwd },
      content: [{ type: 'content', content: { type: 'text', text: reason } }],
    },
  };
}

/** The question of v2: about a command. */
function asCommand({ toolCallId, command, cwd, reason }: Question) {
  return {
    title: 'Run this command?',
    description: reason,
    subject: { type: 'command', command, cwd, ...(toolCallId && { toolCallId }) },
  };
}
