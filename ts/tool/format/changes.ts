import { realpathSync } from 'node:fs';
import type { BashResult, UndoConflict, Undone } from 'agent-bash';
import { receiptLine, shownPath } from '../../core/receipt-line.ts';
import { joinParts } from './parts.ts';

/** Characters of the line that says what a command changed. */
const LINE_LENGTH = 200;
/** Entries of an undo that a model reads. */
const LISTED = 20;
/** Characters of a sentence. */
const SENTENCE_LENGTH = 300;

/** The receipt of a run, with its undo. */
type Recorded = Pick<BashResult, 'receipt' | 'undo'> & { runId: string | null };

/**
 * Returns the line about what a command changed, `[changed: 3 created, 1 modified (src/a.ts)]`, and with `undoes` one
 * about how to take it back. `''` if nothing changed. Paths are relative to `cwd`.
 */
export function changedPart({ receipt, undo, runId }: Recorded, cwd: string, undoes: boolean): string {
  // A hook or a replacement of `bash` may give a result of another version.
  if (!receipt) return '';
  const line = receiptLine(receipt, placesOf(cwd), LINE_LENGTH - '[changed: ]'.length);
  if (line === '') return '';
  const back = undoes && undo && runId ? `\n${backLine(runId, undo)}` : '';
  return `[changed: ${line}]${back}`;
}

function backLine(runId: string, { covers, notCovered }: NonNullable<BashResult['undo']>): string {
  if (covers === 'all' && notCovered.length === 0) return `[undo_run ${JSON.stringify(runId)} takes this back]`;
  const but = notCovered.length === 0 ? '' : `, but not: ${notCovered.join('; ')}`;
  return clipped(`[undo_run ${JSON.stringify(runId)} takes back part of this${but}`, ']');
}

/** Returns what the model reads of an undo. */
export function formatUndone({ restored, removed, conflicts, notCovered, undoId }: Undone, cwd: string): string {
  const places = placesOf(cwd);
  const did = [listed(restored, 'restored', places), listed(removed, 'removed', places)].filter((part) => part !== '');
  const stayed = (conflict: UndoConflict) => conflictInWords(conflict, places);
  const more = conflicts.length - LISTED;
  return joinParts([
    did.length === 0 ? '[undone: nothing had to be changed]' : `[undone: ${did.join(', ')}]`,
    conflicts.slice(0, LISTED).map(stayed).join('\n') + (more > 0 ? `\n[not undone: ${more} more paths]` : ''),
    notCovered
      .slice(0, LISTED)
      .map((text) => clipped(`[not covered: ${oneLine(text)}`, ']'))
      .join('\n'),
    undoId === '' ? '' : `[undo_run ${JSON.stringify(undoId)} takes this undo back]`,
  ]);
}

function listed(paths: readonly string[], word: string, places: readonly string[]): string {
  if (paths.length === 0) return '';
  const names = paths.slice(0, LISTED).map((path) => shownPath(path, places));
  const more = paths.length > LISTED ? ` and ${paths.length - LISTED} more` : '';
  return `${paths.length} ${word} (${names.join(', ')}${more})`;
}

function conflictInWords({ path, why, keptAt }: UndoConflict, places: readonly string[]): string {
  const kept = keptAt === null ? '' : `; what was there before is kept at ${keptAt}`;
  return clipped(`[not undone: ${shownPath(path, places)}: ${oneLine(why)}${kept}`, ']');
}

function clipped(text: string, end: string): string {
  return text.length + end.length <= SENTENCE_LENGTH
    ? text + end
    : `${text.slice(0, SENTENCE_LENGTH - end.length - 1)}…${end}`;
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

/** Receipts have real paths, and a directory may be reached through a link. */
function placesOf(cwd: string): string[] {
  try {
    return [...new Set([cwd, realpathSync(cwd)])];
  } catch {
    return [cwd];
  }
}
