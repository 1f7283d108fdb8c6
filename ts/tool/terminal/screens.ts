import { visible } from '../../core/visible.ts';
import { changedPart } from '../format/changes.ts';
import { denialPart } from '../format/denials.ts';
import { joinParts, withSuggestion } from '../format/parts.ts';
import type { BashToolModelOutput } from '../types.ts';
import type { TerminalEnd, TerminalState, TerminalToolOutput, TerminalView } from './types.ts';

/** Characters of a screen that a model is shown at most: 200 rows of 80. */
const MOST_CHARACTERS = 16_000;
/** Characters of a command or a title at most. */
const MOST_OF_A_NAME = 100;

/** Returns what the model reads of any output of the tool. `asks`: whether it may ask for access. */
export function formatTerminal(output: TerminalToolOutput, asks = false, cwd = process.cwd()): BashToolModelOutput {
  if ('error' in output) {
    const suggestion = output.findings?.find(({ message }) => message === output.error)?.suggestion;
    return { type: 'error-text', value: withSuggestion(output.error, suggestion) };
  }
  return { type: 'text', value: 'terminals' in output ? list(output.terminals) : view(output, asks, cwd) };
}

/** Returns how a program ended, in a few words. */
export function ending({ status, exitCode, signal }: TerminalEnd): string {
  switch (status) {
    case 'exited':
      return `exit code ${exitCode}`;
    case 'signaled':
      return `killed: ${signal ?? `exit code ${exitCode}`}`;
    case 'timed-out':
      return 'it reached its time limit';
    case 'aborted':
      return 'it was stopped';
  }
}

function list(terminals: TerminalState[]): string {
  if (terminals.length === 0) return '[no terminals]';
  return terminals.map((state) => `[${subject(state)}]`).join('\n');
}

function subject({ id, command, end }: TerminalState): string {
  return `terminal ${id} ${end ? `has ended, ${ending(end)}` : 'is running'}: ${named(command)}`;
}

function view(seen: TerminalView, asks: boolean, cwd: string): string {
  return joinParts([
    `[${subject(seen)}]`,
    seen.changed ? changes(seen.changed) : whole(seen.lines),
    seen.end ? '' : `[${place(seen)}]`,
    changedPart(seen, cwd, false),
    denialPart(seen.confinement, asks),
    seen.notes.map((note) => `[${note}]`).join('\n'),
  ]);
}

function whole(lines: string[]): string {
  const text = lines.map(clean);
  return text.length === 0 ? '(the screen is empty)' : fitting(text);
}

function changes(changed: { row: number; text: string }[]): string {
  if (changed.length === 0) return '(nothing has changed)';
  const width = `${changed.at(-1)?.row ?? 0}`.length + 1;
  return fitting(changed.map(({ row, text }) => `${`${row + 1}`.padStart(width)}| ${clean(text)}`.trimEnd()));
}

/** Returns the last rows that fit, because programs prompt there. */
function fitting(rows: string[]): string {
  let left = MOST_CHARACTERS;
  const first = rows.findLastIndex((row) => {
    left -= row.length + 1;
    return left < 0;
  });
  if (first < 0) return rows.join('\n');
  const kept = rows.slice(first + 1);
  // A single row may be too long, because a cell can hold any number of combining marks.
  if (kept.length === 0) kept.push((rows.at(-1) ?? '').slice(0, MOST_CHARACTERS));
  return [`(${rows.length - kept.length} rows above are left out)`, ...kept].join('\n');
}

/**
 * Returns the cursor's place and the program's title as one line. Rows and columns count from 1. A cursor behind a full
 * row counts as on its last column.
 */
function place({ cursor, cols, rows, title, alternate }: TerminalView): string {
  const parts = [`cursor: row ${cursor.row + 1}, column ${Math.min(cursor.col + 1, cols)} of ${rows} × ${cols}`];
  if (title !== '') parts.push(`title: ${named(title)}`);
  if (alternate) parts.push('the program uses the whole screen');
  return parts.join('; ');
}

/** A title is arbitrary text and must stay on one line. */
function named(text: string): string {
  const line = visible(text).replace(/\s+/g, ' ').trim();
  return line.length > MOST_OF_A_NAME ? `${line.slice(0, MOST_OF_A_NAME)}…` : line;
}

function clean(row: string): string {
  return row.replace(/\p{Cc}/gu, ' ');
}
