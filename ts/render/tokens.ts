import type { HighlightToken } from 'agent-bash';
import { TOKEN_COLOURS } from '../core/token-colours.ts';
import { visible } from '../core/visible.ts';
import { PLAIN, type Run, type Style } from './style.ts';
import type { RenderInput } from './types.ts';

type Class = HighlightToken['class'];

const styles = new Map<string, Style>();

/** Returns the style of a part. Equal parts share one object, which makes one run of neighbours. */
function styleOf(token: Class | undefined, marked: boolean): Style {
  const key = `${token} ${marked}`;
  const known = styles.get(key);
  if (known) return known;
  const style = { ...PLAIN, underline: marked, ...(token && { foreground: TOKEN_COLOURS[token], token }) };
  styles.set(key, style);
  return style;
}

/** Reads the pieces of a command line by line. */
export class Pieces {
  readonly #tokens: readonly HighlightToken[];
  readonly #marked: readonly (readonly [from: number, to: number])[];
  /** The first token that does not end before the last line. */
  #at = 0;

  constructor({ tokens = [], marked = [] }: RenderInput) {
    this.#tokens = tokens;
    this.#marked = marked;
  }

  /**
   * Returns the pieces of the next line, which begins at an offset of the command. Invisible characters are written
   * out.
   */
  next(line: string, from: number): Run[] {
    const to = from + line.length;
    while ((this.#tokens[this.#at]?.end ?? to + 1) <= from) this.#at += 1;
    const classes = new Map<number, Class | undefined>();
    for (let at = this.#at; at < this.#tokens.length; at++) {
      const { start, end, class: kind } = this.#tokens[at] as HighlightToken;
      if (start >= to) break;
      classes.set(Math.max(start, from), kind);
      if (end < to) classes.set(end, undefined);
    }
    const marked = this.#marked.filter(([start, end]) => start < to && end > from);
    const edges = new Set([from, ...classes.keys(), ...marked.flat().filter((edge) => edge > from && edge < to)]);
    const sorted = [...edges].sort((a, b) => a - b);
    let token: Class | undefined;
    return sorted.map((start, index) => {
      if (classes.has(start)) token = classes.get(start);
      const text = line.slice(start - from, (sorted[index + 1] ?? to) - from);
      const isMarked = marked.some(([first, last]) => start >= first && start < last);
      return { text: visible(text), style: styleOf(token, isMarked) };
    });
  }
}
