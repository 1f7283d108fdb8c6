import type { BashOptions } from 'agent-bash';
import { DECIDED, type Decided, ledgerByEnvironment } from '../../core/ledger.ts';
import { executorOf } from '../executor.ts';
import type { BashApprovalCall, BashToolOptions } from '../types.ts';

/**
 * Returns the options that commands of a tool have unless they are told otherwise: an entry in the ledger, whose actor
 * has the id of the call, and evidence. What something other than `bash` runs is in no ledger of ours.
 */
export function entryOptions(
  options: BashToolOptions & Decided,
  { toolCallId }: Pick<BashApprovalCall, 'toolCallId'>,
): Pick<BashOptions, 'ledger' | 'actor' | 'evidence'> & Decided {
  const { kind } = executorOf(options);
  if (kind === 'sandbox' || kind === 'host') return {};
  const actor = actorOf(options, toolCallId);
  const decidedBy = options[DECIDED];
  return {
    ledger: options.ledger ?? ledgerByEnvironment() ?? true,
    evidence: options.evidence ?? 'status',
    ...(actor && { actor }),
    ...(decidedBy && { [DECIDED]: decidedBy }),
  };
}

/** Returns who asks for a command, with the id of the call. */
export function actorOf({ actor }: BashToolOptions, toolCallId: string | undefined): BashOptions['actor'] {
  return toolCallId ? { ...actor, toolCallId } : actor;
}
