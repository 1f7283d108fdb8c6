import { drawLine } from '../../../render/output.ts';
import { clipped } from '../../../render/plain-line.ts';
import { PLAIN, type Run, type Style } from '../../../render/style.ts';

/** Most characters of a line that are shown. */
const ROOM = 4_000;
/** Most characters of an unfinished line. Further text begins another line. */
const OPEN = 64 * 1024;

/** A line as it is drawn. */
export type Drawn = Run[];

/** Draws output that arrives in pieces. Styles continue from one line to the next. */
export class Ink {
  #style: Style = PLAIN;
  #open = '';

  /** Returns the lines that a piece completes. */
  write(text: string): Drawn[] {
    const lines = (this.#open + text).split('\n');
    this.#open = lines.pop() as string;
    const done = lines.map((line) => this.#draw(line));
    while (this.#open.length > OPEN) {
      const head = clipped(this.#open, OPEN);
      done.push(this.#draw(head));
      this.#open = this.#open.slice(head.length);
    }
    return done;
  }

  /** Whether there is no unfinished line. */
  get isEmpty(): boolean {
    return this.#open === '';
  }

  /** The unfinished line as it looks now; `null` if it is empty. */
  get open(): Drawn | null {
    return this.isEmpty ? null : drawLine(this.#open, this.#style, ROOM).runs;
  }

  /** Ends the unfinished line, if there is one, and returns it. */
  end(): Drawn[] {
    return this.isEmpty ? [] : this.write('\n');
  }

  #draw(line: string): Drawn {
    const { runs, style } = drawLine(line, this.#style, ROOM);
    this.#style = style;
    return runs;
  }
}
