import type { BashApprovalCall } from './types.ts';

/** A message, or a part of one, of either major, as far as approvals go. */
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
 * Whether a person has approved this very call. Both majors run an approved call, and ask whether it needs approval once
 * more, with the conversation up to the answer of the person: its last message holds that answer.
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
