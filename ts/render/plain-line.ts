import type { Sink } from './scan.ts';
import type { Run, Style } from './style.ts';
import { widthOf } from './width.ts';

/** Tab stops are every eighth column. */
export const TAB = 8;

/** Returns the cells from a column to the next tab stop. */
export function toTabStop(column: number): number {
  return TAB - (column % TAB);
}

/** Returns the first `room` units of a text without splitting a character. */
export function clipped(text: string, room: number): string {
  if (text.length <= room) return text;
  const half = room > 0 && /[\ud800-\udbff]/.test(text[room - 1] ?? '');
  return text.slice(0, half ? room - 1 : room);
}

/** A line without overdrawing: the text it shows within its room, and the number of characters beyond. */
export class PlainLine implements Sink {
  readonly runs: Run[] = [];
  more = 0;
  #room: number;
  #column = 0;
  /** Text of the last run whose columns are not counted yet. Only tabs need them. */
  #uncounted: string[] = [];

  constructor(room: number) {
    this.#room = room;
  }

  text(text: string, style: Style): void {
    const shown = text.length <= this.#room ? text : clipped(text, this.#room);
    this.more += text.length - shown.length;
    // If a character does not fit, later ones do not either.
    this.#room = shown.length < text.length ? 0 : this.#room - shown.length;
    if (shown === '') return;
    this.#uncounted.push(shown);
    const last = this.runs.at(-1);
    if (last?.style === style) last.text += shown;
    else this.runs.push({ text: shown, style });
  }

  tab(style: Style): void {
    if (this.#room > 0) {
      for (const text of this.#uncounted) this.#column += widthOf(text);
      this.#uncounted = [];
    }
    this.text(' '.repeat(toTabStop(this.#column)), style);
  }

  carriageReturn(): void {}
  backspace(): void {}
  erase(): void {}
}
