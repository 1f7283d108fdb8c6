import type { Sink } from './scan.ts';
import type { Run, Style } from './style.ts';
import { widthOf } from './width.ts';

/** Every eighth column. */
export const TAB = 8;

/** Cells from a column to the next tab stop. */
export function toTabStop(column: number): number {
  return TAB - (column % TAB);
}

/** The first `room` units of a text, without half a character. */
export function clipped(text: string, room: number): string {
  if (text.length <= room) return text;
  const half = room > 0 && /[\ud800-\udbff]/.test(text[room - 1] ?? '');
  return text.slice(0, half ? room - 1 : room);
}

/** A line in which nothing is drawn over: what it shows of at most so many characters, and how many more there are. */
export class PlainLine implements Sink {
  readonly runs: Run[] = [];
  more = 0;
  #room: number;
  #column = 0;
  /** Of the last run, where its column was not counted yet: only tabs ask for it. */
  #uncounted: string[] = [];

  constructor(room: number) {
    this.#room = room;
  }

  text(text: string, style: Style): void {
    const shown = text.length <= this.#room ? text : clipped(text, this.#room);
    this.more += text.length - shown.length;
    // Where a whole character has no room, the next one has none either.
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
