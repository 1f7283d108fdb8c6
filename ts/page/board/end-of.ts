import type { LedgerEntry } from 'agent-bash';
import { bareEnd } from '../host/read-end.ts';
import type { PageEnded } from '../wire.ts';

/** Returns the end of a run from its ledger entry, under the id of the page; `null` if the run has not ended. */
export function endOf(entry: LedgerEntry, id: string): PageEnded | null {
  const { state, endedAt, exitCode, signal, receipt, durationMs, usage, outputPath, taskId } = entry;
  if (state === 'running' || endedAt === null) return null;
  const known = { exitCode, signal, receipt, durationMs, usage, outputPath, taskId };
  return { id, ...bareEnd(state, endedAt), ...known, receiptState: receipt?.state ?? null };
}
