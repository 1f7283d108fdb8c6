import { randomUUID } from 'node:crypto';
import type { BashResult, Receipt } from 'agent-bash';
import { isRecord } from '../read.ts';

/** The fields of a result that say what a command changed. */
type Recorded = Pick<BashResult, 'runId' | 'receipt' | 'undo'>;

/**
 * Returns what a sandbox says that a command changed. A local sandbox of this package has these fields. The answer of
 * another one may be anything, and its run has an id of its own, which no `undo` knows.
 */
export function recordIn(given: unknown): Recorded {
  const nothing = { runId: randomUUID(), receipt: null, undo: null };
  if (!isRecord(given)) return nothing;
  try {
    const { runId, receipt, undo } = structuredClone({
      runId: given.runId,
      receipt: given.receipt ?? null,
      undo: given.undo ?? null,
    });
    if (typeof runId !== 'string' || runId === '') return nothing;
    return { runId, receipt: isReceipt(receipt) ? receipt : null, undo: isCover(undo) ? undo : null };
  } catch {
    return nothing;
  }
}

const STATES = ['known', 'partial', 'unknown'];
const CHANGES = ['created', 'modified', 'deleted'];

function isReceipt(given: unknown): given is Receipt {
  if (!isRecord(given)) return false;
  const { state, why, renamed, counts, directories, ports, git } = given;
  return (
    STATES.includes(state as string) &&
    (why === null || typeof why === 'string') &&
    CHANGES.every((name) => listOf(given[name], ({ path }) => typeof path === 'string')) &&
    listOf(renamed, ({ from, to }) => typeof from === 'string' && typeof to === 'string') &&
    isRecord(counts) &&
    [...CHANGES, 'renamed'].every((name) => Number.isSafeInteger(counts[name])) &&
    isTexts(directories) &&
    isRecord(ports) &&
    [ports.opened, ports.closed].every((list) => listOf(list, ({ port }) => Number.isSafeInteger(port))) &&
    listOf(git, isGitChange)
  );
}

function isGitChange({ repository, head, branch, state }: Record<string, unknown>): boolean {
  const isPair = (pair: unknown) =>
    Array.isArray(pair) && pair.length === 2 && pair.every((value) => value === null || typeof value === 'string');
  return (
    typeof repository === 'string' && isPair(head) && isPair(branch) && (state === null || typeof state === 'string')
  );
}

function isCover(given: unknown): given is NonNullable<BashResult['undo']> {
  if (!isRecord(given)) return false;
  const { covers, notCovered, bytes } = given;
  return (covers === 'all' || covers === 'part') && isTexts(notCovered) && Number.isFinite(bytes);
}

function isTexts(given: unknown): boolean {
  return Array.isArray(given) && given.every((text) => typeof text === 'string');
}

function listOf(given: unknown, fits: (item: Record<string, unknown>) => boolean): boolean {
  return Array.isArray(given) && given.every((item) => isRecord(item) && fits(item));
}
