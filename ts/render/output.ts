import { DrawnLine } from './drawn-line.ts';
import { clipped, PlainLine } from './plain-line.ts';
import { type Sink, scan } from './scan.ts';
import { PLAIN, type Run, type Style } from './style.ts';
import { grouped } from './words.ts';

const NEWLINE = 0x0a;
/** Characters before a preview that are searched for the style at its start. */
const LOOK_BACK = 64 * 1024;
/** A longer line is drawn from the first carriage return in this much of its end. */
const DRAWN = 64 * 1024;

/** Characters of one line that a preview parses. The rest is counted unparsed, with its escape sequences. */
const LOOKED_AT = 256 * 1024;

const NOBODY: Sink = { text() {}, tab() {}, carriageReturn() {}, backspace() {}, erase() {} };

/** Counts logical lines. The newline that ends the last line starts none. */
export function countLines(text: string): number {
  let lines = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === NEWLINE) lines++;
  return text === '' || text.charCodeAt(text.length - 1) === NEWLINE ? lines : lines + 1;
}

/** Returns the last logical lines of a text, each as styled runs of limited length. */
export function lastLines(text: string, count: number, room: number): Run[][] {
  if (count === 0 || text === '') return [];
  const end = text.charCodeAt(text.length - 1) === NEWLINE ? text.length - 1 : text.length;
  const start = startOfLast(text, end, count);
  let style = styleAt(text, start);
  return text
    .slice(start, end)
    .split('\n')
    .map((line) => {
      const shown = drawLine(line, style, room);
      style = shown.style;
      return shown.runs;
    });
}

/**
 * Returns one line without drawing or style, of ours or of the command. `left` characters of it are missing from the
 * text.
 */
export function cleanLine(text: string, room: number, left = 0): Run[] {
  const { line, behind } = lookedAt(text, room);
  return cleanPieces([{ text: line, style: PLAIN }], room, behind + left);
}

/** Returns one line from pieces, each in a style of ours. `left` characters of the line are missing from them. */
export function cleanPieces(pieces: readonly Run[], room: number, left: number): Run[] {
  const plain = new PlainLine(room);
  for (const { text, style } of pieces) {
    scan(text, PLAIN, { ...NOBODY, text: (text) => plain.text(text, style), tab: () => plain.tab(style) });
  }
  return clamped(plain.runs, plain.more + left);
}

/** Returns one logical line with its styles, and the style after it. */
export function drawLine(given: string, begin: Style, room: number): { runs: Run[]; style: Style } {
  const whole = given.endsWith('\r') ? given.slice(0, -1) : given;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for a backspace
  const drawn = /[\r\u0008]/.test(whole);
  const from = drawn && whole.length > DRAWN ? whole.indexOf('\r', whole.length - DRAWN) + 1 : 0;
  const { line, behind } = lookedAt(from > 0 ? whole.slice(from) : whole, room);
  const shown = drawn && line.length <= DRAWN ? new DrawnLine(room) : new PlainLine(room);
  const style = scan(line, begin, shown);
  return { runs: clamped(shown.runs, shown.more + behind), style };
}

function lookedAt(text: string, room: number): { line: string; behind: number } {
  const line = room === Number.POSITIVE_INFINITY ? text : clipped(text, LOOKED_AT);
  return { line, behind: text.length - line.length };
}

function clamped(runs: Run[], more: number): Run[] {
  if (more === 0) return runs;
  return [...runs, { text: ` … ${grouped(more)} more characters`, style: PLAIN, ours: true }];
}

function startOfLast(text: string, end: number, count: number): number {
  let start = end;
  for (let lines = 0; lines < count; lines++) {
    if (start === 0) return 0;
    start = text.lastIndexOf('\n', start - 1);
    if (start < 0) return 0;
  }
  return start + 1;
}

/** Returns the style at the start of a line, as far as the text shortly before determines it. */
function styleAt(text: string, start: number): Style {
  if (start === 0) return PLAIN;
  const near = text.slice(Math.max(0, start - LOOK_BACK), start);
  // No sequence continues on the next line, so parsing can start after any newline.
  const from = start > LOOK_BACK ? near.indexOf('\n') + 1 : 0;
  let style = PLAIN;
  for (const line of near.slice(from).split('\n')) style = scan(line, style, NOBODY);
  return style;
}
