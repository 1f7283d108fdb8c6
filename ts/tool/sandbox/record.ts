import { randomUUID } from 'node:crypto';
import type { BashResult, Confinement, Receipt } from 'agent-bash';
import { isRecord } from '../schema.ts';

/**
 * Returns how a sandbox reports that it confined a command. `null` if it reports nothing. A local sandbox of this
 * package has this field. The answer of another sandbox may be anything.
 */
export function confinementIn(given: unknown): Confinement | null {
  if (!isRecord(given)) return null;
  try {
    const copy: unknown = structuredClone(given);
    return isConfinement(copy) ? copy : null;
  } catch {
    return null;
  }
}

function isConfinement(given: unknown): given is Confinement {
  const { profile, held, missing, denied, deniedTotal, tmp } = given as Record<string, unknown>;
  return (
    (profile === 'workspace' || profile === 'read-only') &&
    Array.isArray(held) &&
    Array.isArray(missing) &&
    missing.every(isRecord) &&
    Array.isArray(denied) &&
    denied.every(isDenial) &&
    Number.isSafeInteger(deniedTotal) &&
    (tmp === null || typeof tmp === 'string')
  );
}

function isDenial(given: unknown): boolean {
  if (!isRecord(given)) return false;
  const { kind, target, program, count, grant } = given;
  const named = [kind, target, program].every((text) => typeof text === 'string');
  return named && Number.isSafeInteger(count) && (grant === null || isRecord(grant));
}

/** Returns the note on a command whose target a sandbox of this package has lost; none for other commands. */
export function lossIn(given: unknown): string[] {
  const isLost = isRecord(given) && given.lost === true;
  return isLost ? ['the sandbox has lost the command with its target: it may have done all, some or nothing'] : [];
}

/** The fields of a result about the changes of a command. */
type Recorded = Pick<BashResult, 'runId' | 'receipt' | 'undo'>;

/**
 * Returns a sandbox's record of the changes of a command. A local sandbox of this package has these fields. The answer
 * of another sandbox may be anything, and its run has an id of its own, which no `undo` knows.
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
