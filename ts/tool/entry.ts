import { type BashOptions, bash } from 'agent-bash';
import { DECIDED, type Decided, ledgerByEnvironment } from '../core/ledger.ts';
import { approvedByPerson } from './judge.ts';
import { sandboxOf } from './place.ts';
import type { BashToolExecutionOptions, BashToolOptions } from './types.ts';

/**
 * Returns the options for the entry of a call in the ledger: commands of a tool have one unless they are told
 * otherwise, and its actor has the id of the call. What something other than `bash` runs is in no ledger of ours.
 */
export function entryOptions(
  options: BashToolOptions,
  call: Pick<BashToolExecutionOptions, 'toolCallId' | 'messages'>,
): Pick<BashOptions, 'ledger' | 'actor'> & Decided {
  if (sandboxOf(options) !== undefined || (options.run !== undefined && options.run !== bash)) return {};
  const { toolCallId } = call;
  const actor = toolCallId ? { ...options.actor, toolCallId } : options.actor;
  return {
    ledger: options.ledger ?? ledgerByEnvironment() ?? true,
    ...(actor && { actor }),
    ...(approvedByPerson(call) && { [DECIDED]: 'host' }),
  };
}
