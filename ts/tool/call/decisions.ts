import { createHash } from 'node:crypto';
import type { Decider } from '../../core/ledger.ts';
import type { BashApprovalCall, BashToolError, BashToolInput } from '../types.ts';

/** What an approval decided about a call: its refusal, or where a person approved it. `null`: its rules let it run. */
export type CallDecision = BashToolError | { decidedBy: Decider | null };

/**
 * Most decisions that are remembered until their calls run. The oldest are dropped first. The number exceeds what a
 * model can ask for in one step, so other calls never displace a refused call.
 */
const MOST = 20_000;
const decisions = new Map<string, CallDecision>();

/**
 * Returns the key of a call: its id and everything it would run, or that it is a commit. A hash keeps it short for
 * commands of any length.
 */
function key(toolCallId: string, commands: readonly BashToolInput[]): string {
  const parts = [toolCallId, ...commands.map(({ command }) => JSON.stringify(command ?? null))];
  return createHash('sha256').update(parts.join('\0')).digest('base64');
}

/**
 * Stores the decision about a call until its tool takes it. `needsApproval` cannot refuse a call: it only says whether
 * to ask, and a call about which nobody is asked runs. `null` removes an earlier decision about the same call.
 */
export function leaveDecision(
  toolCallId: string,
  commands: readonly BashToolInput[],
  decision: CallDecision | null,
): void {
  const name = key(toolCallId, commands);
  decisions.delete(name);
  if (decision === null) return;
  decisions.set(name, decision);
  const [oldest] = decisions.keys();
  if (decisions.size > MOST && oldest !== undefined) decisions.delete(oldest);
}

/** Removes and returns the decision about a call. */
export function takeDecision(toolCallId: string, commands: readonly BashToolInput[]): CallDecision | undefined {
  const name = key(toolCallId, commands);
  const decision = decisions.get(name);
  decisions.delete(name);
  return decision;
}

/** The parts of a message that approvals use, in the shapes of ai 6 and ai 7. */
interface Part {
  type?: unknown;
  role?: unknown;
  content?: unknown;
  approvalId?: unknown;
  approved?: unknown;
  isAutomatic?: unknown;
  toolCallId?: unknown;
  toolCall?: { toolCallId?: unknown } | undefined;
}

/**
 * Returns whether a person has approved this call. Both majors ask again whether an approved call needs approval. The
 * last message of the conversation then holds the person's answer.
 */
export function approvedByPerson({ toolCallId, messages }: Pick<BashApprovalCall, 'toolCallId' | 'messages'>): boolean {
  const last = partsOf(messages).at(-1);
  if (toolCallId === undefined || last?.role !== 'tool') return false;
  const approved = partsOf(last.content)
    .filter((part) => part.type === 'tool-approval-response' && part.approved === true)
    .map((part) => part.approvalId);
  if (approved.length === 0) return false;
  return partsOf(messages)
    .flatMap(({ role, content }) => (role === 'assistant' ? partsOf(content) : []))
    .some(
      (part) =>
        part.type === 'tool-approval-request' &&
        part.isAutomatic !== true &&
        approved.includes(part.approvalId) &&
        (part.toolCallId ?? part.toolCall?.toolCallId) === toolCallId,
    );
}

function partsOf(value: unknown): Part[] {
  return Array.isArray(value) ? value.filter((part) => typeof part === 'object' && part !== null) : [];
}
