import type { BashApprovalCall } from './types.ts';

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
