import { type Drawn, Ink } from './ink.ts';

/** Most lines that are kept. */
export const LINES = 2_000;

/** A line of the output, or the bytes that are missing before the next line. `number` counts both. */
export type PaperLine = { number: number } & ({ drawn: Drawn; label: string } | { gap: number });

/** The last lines of an output, bounded however much a command writes. */
export class Paper {
  #ink = new Ink();
  /** The last lines, the oldest first. */
  lines: PaperLine[] = [];
  /** The number that the next line gets, from 1. */
  next = 1;
  /** Bytes that this page never received. */
  missing = 0;

  /** The unfinished line; `null` if it is empty. */
  get open(): Drawn | null {
    return this.#ink.open;
  }

  /** The number of the next line in the whole output; `''` after a gap, where it is not known. */
  get label(): string {
    return this.missing > 0 ? '' : this.next.toLocaleString('en');
  }

  get isEmpty(): boolean {
    return this.next === 1 && this.#ink.isEmpty && this.missing === 0;
  }

  add(text: string, gap: number): void {
    if (gap > 0) {
      this.#push(this.#ink.end());
      // The style after a gap is not known.
      this.#ink = new Ink();
      this.missing += gap;
      this.lines.push({ number: this.next++, gap });
    }
    this.#push(this.#ink.write(text));
    if (this.lines.length > LINES) this.lines.splice(0, this.lines.length - LINES);
  }

  #push(drawn: Drawn[]): void {
    const skipped = Math.max(0, drawn.length - LINES);
    this.next += skipped;
    for (const line of drawn.slice(skipped)) {
      const { label } = this;
      this.lines.push({ number: this.next++, drawn: line, label });
    }
  }
}
