import type { HighlightToken } from 'agent-bash';
import { type Cell, cells } from './columns.ts';
import { paintToken } from './console.ts';

/** A line of a command, and the marks below it. */
export interface MarkedLine {
  line: string;
  marks: string;
}

/** Most columns of a line, and most lines, that are shown. */
const COLUMNS = 100;
const LINES = 8;
/** Columns that stay before the first mark if a line must be cut. */
const LEAD = 20;

/**
 * Returns the lines of a command that a span covers, with the span underlined. Offsets are UTF-16 units. An empty span
 * marks a position. `tokens` give the parts of the command their colours.
 */
export function spot(
  command: string,
  [from, to]: [number, number],
  tokens: readonly HighlightToken[] = [],
): MarkedLine[] {
  const marked: MarkedLine[] = [];
  let start = 0;
  let more = 0;
  for (const text of command.split('\n')) {
    const end = start + text.length;
    const touched = from === to ? from >= start && from <= end : from < end && to > start;
    if (touched && marked.length < LINES)
      marked.push(mark(text, Math.max(0, from - start), to - start, (at) => classAt(tokens, start + at)));
    else if (touched) more += 1;
    start = end + 1;
  }
  if (more > 0) marked.push({ line: `… ${more} more ${more === 1 ? 'line' : 'lines'}`, marks: '' });
  return marked;
}

function classAt(tokens: readonly HighlightToken[], at: number): HighlightToken['class'] | undefined {
  return tokens.find(({ start, end }) => at >= start && at < end)?.class;
}

function mark(
  text: string,
  from: number,
  to: number,
  classAt: (at: number) => HighlightToken['class'] | undefined,
): MarkedLine {
  const all = cells(text);
  const first = all.findIndex((cell) => cell.to > from);
  const { shown, before, after } = cut(all, first < 0 ? all.length : first);
  const line = painted(shown, classAt);
  const marks = shown.map((cell) => (cell.from < to && cell.to > from ? '^' : ' ').repeat(cell.width)).join('');
  // The position behind the last character can be marked too.
  const place = from >= text.length ? '^' : '';
  return {
    line: `${before}${line}${after}`,
    marks: `${before && ' '}${marks}${place}`.trimEnd() || '^',
  };
}

/** Returns cells as text in which neighbours of one class are coloured together. */
function painted(shown: readonly Cell[], classAt: (at: number) => HighlightToken['class'] | undefined): string {
  const parts: { kind: HighlightToken['class'] | undefined; text: string }[] = [];
  for (const cell of shown) {
    const kind = classAt(cell.from);
    const last = parts.at(-1);
    if (last && last.kind === kind) last.text += cell.shown;
    else parts.push({ kind, text: cell.shown });
  }
  return parts.map(({ kind, text }) => paintToken(kind, text)).join('');
}

/** Returns the cells around the first mark that fit. */
function cut(all: Cell[], first: number): { shown: Cell[]; before: string; after: string } {
  const width = (some: Cell[]) => some.reduce((sum, cell) => sum + cell.width, 0);
  if (width(all) <= COLUMNS) return { shown: all, before: '', after: '' };
  const start = Math.max(0, first - LEAD);
  const shown: Cell[] = [];
  let columns = 0;
  for (const cell of all.slice(start)) {
    if (columns + cell.width > COLUMNS - 2) break;
    columns += cell.width;
    shown.push(cell);
  }
  return { shown, before: start > 0 ? '…' : '', after: start + shown.length < all.length ? '…' : '' };
}
