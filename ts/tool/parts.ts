import { realpathSync } from 'node:fs';
import type {
  BackgroundTask,
  BashResult,
  Change,
  Committed,
  Denial,
  DraftChanges,
  PathReason,
  UndoConflict,
  Undone,
} from 'agent-bash';
import { evidenceLines } from '../core/evidence-lines.ts';
import { foreignName, foreignWords } from '../core/foreign.ts';
import { linesOf } from '../core/lines.ts';
import { receiptLine, repositoriesInWords, shownPath } from '../core/receipt-line.ts';
import { tapLine } from './call/tap-line.ts';

/** Joins the parts of a text with blank lines and leaves out empty parts. */
export function joinParts(parts: string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Removes the newline that ends the last line. */
export function withoutLastNewline(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

/** Joins a message and the command to use instead. */
export function withSuggestion(message: string, suggestion: string | undefined): string {
  return suggestion ? `${message}\nInstead: ${suggestion}` : message;
}

/** Length of the line about the changes of a command, in characters. */
const LINE_LENGTH = 200;
/** Entries of an undo, a draft or a commit that a model reads. */
export const LISTED = 20;
/** Characters of a sentence. */
const SENTENCE_LENGTH = 300;

/** The receipt of a run, with its undo. */
type Recorded = Pick<BashResult, 'receipt' | 'undo'> & { runId: string | null };

/**
 * Returns the line about the changes of a command, `[changed: 3 created, 1 modified (src/a.ts)]`, and with `undoes` a
 * line about how to take them back. `''` if nothing changed. Paths are relative to `cwd`.
 */
export function changedPart({ receipt, undo, runId }: Recorded, cwd: string, undoes: boolean): string {
  // A hook or a replacement of `bash` may give a result of another version.
  if (!receipt) return '';
  const line = receiptLine(receipt, placesOf(cwd), LINE_LENGTH - '[changed: ]'.length);
  if (line === '') return '';
  const back = undoes && undo && runId ? `\n${backLine(runId, undo)}` : '';
  return `[changed: ${line}]${back}`;
}

/** Returns the line about known files that a command changed: `[changed since you read it: src/a.ts]`, or `''`. */
export function stalePart(stale: BashResult['stale'] | null | undefined, cwd: string): string {
  // A hook or a replacement of `bash` may give a result of another version.
  if (!stale || stale.length === 0) return '';
  const places = placesOf(cwd);
  const names = stale.map(
    ({ path, change }) => shownPath(path, places) + (change === 'modified' ? '' : ` (${change})`),
  );
  const line = (shown: number) => {
    const more = names.length - shown;
    return `[changed since you read it: ${names.slice(0, shown).join(', ')}${more > 0 ? ` and ${more} more` : ''}]`;
  };
  let shown = names.length;
  while (shown > 1 && line(shown).length > LINE_LENGTH) shown--;
  return line(shown);
}

function backLine(runId: string, { covers, notCovered }: NonNullable<BashResult['undo']>): string {
  if (covers === 'all' && notCovered.length === 0) return `[undo_run ${JSON.stringify(runId)} takes this back]`;
  const but = notCovered.length === 0 ? '' : `, but not: ${foreignWords(notCovered.join('; '))}`;
  return clipped(`[undo_run ${JSON.stringify(runId)} takes back part of this${but}`, ']');
}

/** Returns the model's text for an undo. */
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
      .map((text) => clipped(`[not covered: ${foreignWords(text)}`, ']'))
      .join('\n'),
    undoId === '' ? '' : `[undo_run ${JSON.stringify(undoId)} takes this undo back]`,
  ]);
}

/** Returns what a draft has changed, and what someone outside has changed as well, for a model or a person. */
export function summaryOf(changes: DraftChanges | null, cwd: string): string {
  if (changes === null) return NOTHING_DRAFTED;
  const { counts, created, modified, deleted, renamed, conflicts, git } = changes;
  const places = placesOf(cwd);
  const paths = (entries: readonly Change[]) => entries.map(({ path }) => path);
  const did = [
    listed(paths(created), 'created', places, counts.created),
    listed(paths(modified), 'modified', places, counts.modified),
    listed(paths(deleted), 'deleted', places, counts.deleted),
    listed(
      renamed.map(({ to }) => to),
      'renamed',
      places,
      counts.renamed,
    ),
  ].filter((part) => part !== '');
  const all = [did.join(', '), ...repositoriesInWords(git, places)].filter((part) => part !== '').join('; ');
  return joinParts([
    all === '' ? NOTHING_DRAFTED : `[draft: ${all}]`,
    listedReasons(conflicts, 'changed outside of the draft as well', places),
  ]);
}

const NOTHING_DRAFTED = '[draft: nothing has changed]';

/** Returns the model's text for a commit. */
export function formatCommitted({ applied, skipped, conflicts }: Committed, cwd: string): string {
  const places = placesOf(cwd);
  const did = listed(applied, applied.length === 1 ? 'path' : 'paths', places);
  return joinParts([
    conflicts.length > 0
      ? '[not committed: paths were changed outside of the draft as well, so nothing was changed there]'
      : `[committed: ${did === '' ? 'there was nothing to commit' : did}]`,
    listedReasons(conflicts, 'conflict', places),
    listedReasons(skipped, 'stays in the draft', places),
  ]);
}

function listedReasons(paths: readonly PathReason[], word: string, places: readonly string[]): string {
  const more = paths.length - LISTED;
  const lines = paths
    .slice(0, LISTED)
    .map(({ path, why }) => clipped(`[${word}: ${shownPath(path, places)}: ${foreignWords(why)}`, ']'));
  return [...lines, ...(more > 0 ? [`[${word}: ${more} more paths]`] : [])].join('\n');
}

/** `count`: the number of all paths, if only the first ones are given. */
function listed(paths: readonly string[], word: string, places: readonly string[], count = paths.length): string {
  if (count === 0) return '';
  const names = paths.slice(0, LISTED).map((path) => shownPath(path, places));
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  return `${count} ${word} (${names.join(', ')}${more})`;
}

function conflictInWords({ path, why, keptAt }: UndoConflict, places: readonly string[]): string {
  const kept = keptAt === null ? '' : `; what was there before is kept at ${foreignName(keptAt, NAME_LENGTH)}`;
  return clipped(`[not undone: ${shownPath(path, places)}: ${foreignWords(why)}${kept}`, ']');
}

function clipped(text: string, end: string): string {
  return text.length + end.length <= SENTENCE_LENGTH
    ? text + end
    : `${text.slice(0, SENTENCE_LENGTH - end.length - 1)}…${end}`;
}

/** Receipts have real paths, and a directory may be reached through a link. */
function placesOf(cwd: string): string[] {
  try {
    return [...new Set([cwd, realpathSync(cwd)])];
  } catch {
    return [cwd];
  }
}

/**
 * Returns the lines about failures that the exit code does not show, and about the output of a pipeline's first
 * program; or `''`. `shown`: what the model reads of standard output.
 */
export function evidencePart(
  { evidence, confinement }: Partial<Pick<BashResult, 'evidence' | 'confinement'>>,
  shown: string,
  recalls: boolean,
): string {
  // A hook or a replacement of `bash` may give a result of another version.
  if (!evidence) return '';
  const kept = evidence.tap?.kept ? evidence.tap : null;
  const tap = kept ? tapLine(kept, linesOf(shown).length, recalls, !confinement) : '';
  return [...evidenceLines(evidence), ...(tap === '' ? [] : [tap])].map((line) => `[${line}]`).join('\n');
}

/** Returns the line about a result that was given again: `[not run again: nothing changed since run …, 3 min ago]`. */
export function reusedPart(reused: BashResult['reused'] | undefined, anew: string): string {
  // A hook or a replacement of `bash` may give a result of another version.
  if (!reused) return '';
  return `[not run again: nothing changed since run ${reused.runId}, ${ago(Date.now() - reused.at)}${anew}]`;
}

function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min ago` : `${Math.round(minutes / 60)} h ago`;
}

type Confinement = NonNullable<BashResult['confinement']>;

/** Denials that the line names, and the length of a name in it. */
const NAMED = 8;
const NAME_LENGTH = 120;

const NO_FAULT = 'The confinement of this tool denied that: it is no fault of the project or of its tools';

/**
 * Returns the text that the model reads of the denials of a command: one line that names them, and one about the
 * next steps. `''` without denials. `asks`: whether the model may ask for access with its next call.
 */
export function denialPart(confinement: Confinement | null | undefined, asks: boolean): string {
  // A hook or a replacement of `bash` may give a result of another version.
  if (!confinement || confinement.denied.length === 0) return '';
  return `[confined: ${denialList(confinement)}]\n[${NO_FAULT}. ${remedy(confinement.denied, asks)}]`;
}

/** Returns the denials in words: `write /etc/hosts denied (tee); network a.example:443 denied (npm), 3 times`. */
export function denialList({ denied, deniedTotal }: Confinement): string {
  const named = denied.slice(0, NAMED);
  const left = deniedTotal - named.reduce((sum, { count }) => sum + count, 0);
  return [...named.map(denialInWords), ...(left > 0 ? [`${left} more`] : [])].join('; ');
}

/** Returns one denial in words, on one line. */
export function denialInWords({ kind, target, program, count }: Denial): string {
  const by = program === '' ? '' : ` (${foreignName(program, NAME_LENGTH)})`;
  return `${kind} ${foreignName(target, NAME_LENGTH)} denied${by}${count > 1 ? `, ${count} times` : ''}`;
}

function remedy(denied: readonly Denial[], asks: boolean): string {
  if (!asks) return 'The host grants nothing more: do without it, or tell the user what is needed.';
  const access = accessFor(denied);
  if (access === null) return 'Nothing that can be asked for allows it: do without it.';
  return `If the task needs it, run the command again with access ${JSON.stringify(access)} and a reason: the host is asked. Else do without it.`;
}

/** Returns the access that would have allowed the denied actions, or `null` if none would. */
function accessFor(denied: readonly Denial[]): { write?: string[]; network?: string[] } | null {
  const grants = denied.slice(0, NAMED).map(({ grant }) => grant);
  const write = [...new Set(grants.flatMap((grant) => grant?.write ?? []))];
  const network = [...new Set(grants.flatMap((grant) => grant?.network?.allow ?? []))];
  if (write.length + network.length === 0) return null;
  return { ...(write.length > 0 && { write }), ...(network.length > 0 && { network }) };
}

/** Orders tasks for display: running tasks first, then the newest. */
export function runningFirst(a: BackgroundTask, b: BackgroundTask): number {
  const running = Number(b.state === 'running') - Number(a.state === 'running');
  return running || b.startedAt - a.startedAt;
}
