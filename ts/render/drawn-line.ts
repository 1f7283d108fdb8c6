import { toTabStop } from './plain-line.ts';
import type { Sink } from './scan.ts';
import type { Run, Style } from './style.ts';
import { clusters } from './width.ts';

interface Cell {
  text: string;
  width: number;
  style: Style;
}

/**
 * A line with carriage returns, backspaces and erasures, as a terminal finally shows it: a later character replaces an
 * earlier one. Characters are counted, not columns, so a narrow character drawn over a wide one shifts the rest.
 */
export class DrawnLine implements Sink {
  #cells: Cell[] = [];
  #cursor = 0;
  /** Characters kept at most. */
  readonly #room: number;
  #longest = 0;

  constructor(room: number) {
    this.#room = room;
  }

  /** The final text. */
  get runs(): Run[] {
    const runs: Run[] = [];
    for (const { text, style } of this.#cells) {
      const last = runs.at(-1);
      if (last?.style === style) last.text += text;
      else runs.push({ text, style });
    }
    return runs;
  }

  get more(): number {
    return Math.max(0, this.#longest - this.#room);
  }

  text(text: string, style: Style): void {
    // Text beyond the room is skipped.
    if (this.#cursor >= this.#room) this.#moveTo(this.#cursor + text.length);
    else for (const { text: character, width } of clusters(text)) this.#put({ text: character, width, style });
  }

  tab(): void {
    this.#moveTo(this.#cursor + toTabStop(this.#cursor));
  }

  carriageReturn(): void {
    this.#cursor = 0;
  }

  backspace(): void {
    this.#cursor = Math.max(0, this.#cursor - 1);
  }

  erase(how: number): void {
    // A part erased to the left is usually overwritten next, or was meant to be seen.
    if (how === 1) return;
    if (how === 2) this.#cursor = 0;
    this.#cells.length = Math.min(this.#cells.length, this.#cursor);
    this.#longest = this.#cells.length;
  }

  #put(cell: Cell): void {
    const before = this.#cells[this.#cursor - 1];
    if (cell.width === 0 && before) {
      before.text += cell.text;
    } else {
      if (this.#cursor < this.#room) {
        // A tab may have moved the cursor behind the end.
        while (this.#cells.length < this.#cursor) this.#cells.push({ text: ' ', width: 1, style: cell.style });
        this.#cells[this.#cursor] = cell;
      }
      this.#moveTo(this.#cursor + 1);
    }
  }

  #moveTo(cursor: number): void {
    this.#cursor = cursor;
    this.#longest = Math.max(this.#longest, cursor);
  }
}
