import { PLAIN } from '../../../render/style.ts';
import { type Drawn, Ink } from './ink.ts';

/** Lines that are kept and shown. */
export const LINES = 2_000;

/** A line of the output, or a remark of the page. */
export interface PaperLine {
  /** Counts from the first line of the output. */
  number: number;
  drawn: Drawn;
  isRemark: boolean;
}

/** The last lines of an output: bounded, however much a command writes. */
export class Paper {
  #ink = new Ink();
  /** The last lines, the oldest first. */
  lines: PaperLine[] = [];
  /** The number that the next line gets. */
  next = 0;
  /** Bytes that this page never received. */
  missing = 0;

  /** The line that has not ended. */
  get open(): Drawn | null {
    return this.#ink.open;
  }

  get isEmpty(): boolean {
    return this.next === 0 && this.open === null;
  }

  add(text: string, gap: number, gapWords: (bytes: number) => string): void {
    if (gap > 0) {
      this.#push(this.#ink.end(), false);
      // What comes next is in no known style.
      this.#ink = new Ink();
      this.missing += gap;
      if (this.next > 0) this.remark(gapWords(gap));
    }
    this.#push(this.#ink.write(text), false);
  }

  remark(words: string): void {
    this.#push([[{ text: words, style: PLAIN, ours: true }]], true);
  }

  #push(drawn: Drawn[], isRemark: boolean): void {
    const skipped = Math.max(0, drawn.length - LINES);
    this.next += skipped;
    for (const line of drawn.slice(skipped)) this.lines.push({ number: this.next++, drawn: line, isRemark });
    if (this.lines.length > LINES) this.lines.splice(0, this.lines.length - LINES);
  }
}
