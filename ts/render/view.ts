import type { Evidence } from 'agent-bash';
import { visible } from '../core/visible.ts';
import { changes, undoLines } from './changes.ts';
import type { Settings } from './check.ts';
import { shownOf, wholes } from './cuts.ts';
import { denials } from './denials.ts';
import { elided } from './elided.ts';
import { hidden, tests } from './evidence.ts';
import { cleanLine, cleanPieces, countLines, lastLines } from './output.ts';
import { clipped } from './plain-line.ts';
import type { Status } from './status.ts';
import { statusOf } from './status.ts';
import { PLAIN, type Run } from './style.ts';
import { Pieces } from './tokens.ts';
import type { RenderInput } from './types.ts';
import { grouped } from './words.ts';

/** The kind of a line: a class of the HTML. */
export type Kind =
  | 'command'
  | 'cwd'
  | 'more'
  | 'label'
  | 'output'
  | 'stdout'
  | 'stderr'
  | 'cut'
  | 'elided'
  | 'log'
  | 'survivor'
  | 'changed'
  | 'denied'
  | 'note'
  | 'tests'
  | 'hidden'
  | 'status';

/** One logical line. */
export interface Line {
  kind: Kind;
  runs: Run[];
}

/** Everything that is shown of a run, before it becomes rows or markup. */
export interface Rendering {
  status: Status;
  lines: Line[];
}

/** Characters of a line in a preview. */
const LINE_ROOM = 4_000;
/** Lines of a command in a preview. */
const COMMAND_LINES = 10;

/**
 * Converts a run to its lines, from top to bottom: command, directory, output, truncation, lines that a model does not
 * read, background task, survivors, changes, denials, notes, tests, hidden failures, status.
 */
export function viewOf(run: RenderInput, settings: Settings): Rendering {
  const room = settings.expanded ? Number.POSITIVE_INFINITY : LINE_ROOM;
  const line = (kind: Kind, text: string): Line => ({ kind, runs: cleanLine(text.replaceAll('\n', ' '), room) });
  const status = statusOf(run);
  const { result } = run;
  const { parts, notices } = streams(run);
  // There may be millions of lines, too many for the arguments of a call.
  const lines = header(run, room, line).concat(preview(parts, settings, room, line));
  if (parts.length === 0 && status.state !== 'not-run') {
    if (result === null) lines.push(line('more', '(no output yet)'));
    // The output of a background task is in its log.
    else if (result.status !== 'backgrounded') lines.push(line('more', '(no output)'));
  }
  lines.push(...notices.map((notice) => line('cut', notice)));
  if (result?.view) lines.push(...elided(result.view, settings.expanded).map((text) => line('elided', text)));
  if (result?.background) lines.push(line('log', `log: ${result.background.logPath}`));
  for (const { pid, command, taskId } of result?.survivors ?? []) {
    lines.push(line('survivor', `still running: ${pid} ${command}${taskId === null ? '' : ` (task ${taskId})`}`));
  }
  if (result?.receipt) {
    lines.push(...changes(result.receipt, run.cwd, settings.expanded).map((text) => line('changed', text)));
  }
  if (result?.undo) lines.push(...undoLines(result.undo, result.runId).map((text) => line('changed', text)));
  if (result?.confinement) lines.push(...denials(result.confinement).map((text) => line('denied', text)));
  for (const note of result?.notes ?? []) lines.push(line('note', `note: ${note}`));
  if (result?.evidence) lines.push(...ofEvidence(result.evidence, settings.expanded, line));
  // An error message may have several lines.
  lines.push(...status.text.split('\n').map((text) => line('status', text)));
  return { status, lines };
}

function ofEvidence(evidence: Evidence, expanded: boolean, line: MakeLine): Line[] {
  const counts = tests(evidence, expanded).map((text) => line('tests', text));
  return [...counts, ...hidden(evidence, expanded).map((text) => line('hidden', text))];
}

type MakeLine = (kind: Kind, text: string) => Line;

function header(run: RenderInput, room: number, line: MakeLine): Line[] {
  const { command, cwd } = run;
  const pieces = new Pieces(run);
  const total = Math.max(1, countLines(command));
  const shown = firstLines(command, room === Number.POSITIVE_INFINITY ? total : COMMAND_LINES);
  const lines = shown.map(({ text, start }, index): Line => {
    // Escaping makes text longer, so it is clipped first.
    const head = clipped(text, room);
    const prompt: Run = { text: index === 0 ? '$ ' : '  ', style: PLAIN };
    const runs = cleanPieces([prompt, ...pieces.next(head, start)], room, text.length - head.length);
    return { kind: 'command', runs };
  });
  const more = total - shown.length;
  if (more > 0) lines.push(line('more', `  … ${grouped(more)} more ${linesWord(more)}`));
  if (cwd !== undefined) lines.push(line('cwd', `in ${visible(cwd)}`));
  return lines;
}

function firstLines(text: string, count: number): { text: string; start: number }[] {
  const lines: { text: string; start: number }[] = [];
  let start = 0;
  while (lines.length < count && (start < text.length || start === 0)) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end < 0 ? text.length : end);
    lines.push({ text: line.endsWith('\r') && end >= 0 ? line.slice(0, -1) : line, start });
    start = end < 0 ? Math.max(1, text.length) : end + 1;
  }
  return lines;
}

interface Part {
  kind: 'output' | 'stdout' | 'stderr';
  text: string;
}

function streams({ result, output }: RenderInput): { parts: Part[]; notices: string[] } {
  if (output !== undefined || result === null) {
    const parts: Part[] = output ? [{ kind: 'output', text: output }] : [];
    return { parts, notices: result ? wholes(result.truncation, result.status === 'backgrounded') : [] };
  }
  const stdout = shownOf(result.stdout, result.truncation.stdout);
  const stderr = shownOf(result.stderr, result.truncation.stderr);
  const parts: Part[] = [
    { kind: 'stdout', text: stdout.text },
    { kind: 'stderr', text: stderr.text },
  ];
  return { parts: parts.filter(({ text }) => text !== ''), notices: [...stdout.notices, ...stderr.notices] };
}

/** Returns the last lines of all parts together, and the number of lines before them. */
function preview(parts: Part[], { expanded, previewLines }: Settings, room: number, line: MakeLine): Line[] {
  const counts = parts.map(({ text }) => countLines(text));
  const total = counts.reduce((sum, count) => sum + count, 0);
  let left = expanded ? total : Math.min(total, previewLines);
  const hidden = total - left;
  let shown: Line[] = [];
  for (let index = parts.length - 1; index >= 0; index--) {
    const { kind, text } = parts[index] as Part;
    const take = Math.min(left, counts[index] ?? 0);
    left -= take;
    const lines = lastLines(text, take, room).map((runs): Line => ({ kind, runs }));
    if (kind === 'stderr' && lines.length > 0) lines.unshift(line('label', 'stderr:'));
    shown = lines.concat(shown);
  }
  if (hidden > 0) shown.unshift(line('more', `… ${grouped(hidden)} earlier ${linesWord(hidden)}`));
  return shown;
}

function linesWord(count: number): string {
  return count === 1 ? 'line' : 'lines';
}
