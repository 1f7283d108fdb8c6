/** Number of characters at the beginning that decide which terminator a file has, if they contain a terminator. */
const DECIDING = 64 * 1024;

/**
 * Takes a text in pieces and keeps a range of its lines, counted from 1, both ends included. Lines end with the file's
 * own terminator. Text outside the range is not kept.
 */
export class LineRange {
  readonly #first: number;
  readonly #last: number;
  readonly #kept: string[] = [];
  /** Text that is not counted yet. */
  #rest = '';
  #terminator: string | null = null;
  #line = 1;
  #done: boolean;

  constructor(first = 1, last = Number.POSITIVE_INFINITY) {
    this.#first = Math.max(1, first);
    this.#last = last;
    this.#done = last < this.#first;
  }

  /** Returns whether no later text can change the range. */
  get done(): boolean {
    return this.#done;
  }

  push(text: string): void {
    this.#rest += text;
    if (this.#rest.length >= DECIDING) this.#take(false);
  }

  /** Ends the text. Returns the lines, without the terminator of the last one. */
  finish(): string {
    this.#take(true);
    return this.#kept.join('');
  }

  #take(isLast: boolean): void {
    this.#terminator ??= terminatorOf(this.#rest, isLast);
    const terminator = this.#terminator;
    let at = 0;
    while (!this.#done && terminator !== null) {
      const end = this.#rest.indexOf(terminator, at);
      if (end < 0) break;
      this.#keep(this.#rest.slice(at, end));
      at = end + terminator.length;
      if (this.#line >= this.#last) this.#done = true;
      else this.#keep(terminator, this.#line >= this.#first);
      this.#line += 1;
    }
    // A carriage return at the end may be the first half of a terminator.
    const held = !isLast && this.#rest.endsWith('\r') && terminator !== '\r' ? 1 : 0;
    const until = Math.max(at, this.#rest.length - held);
    if (!this.#done) this.#keep(this.#rest.slice(at, until));
    this.#rest = this.#rest.slice(until);
  }

  #keep(text: string, isWanted = this.#line >= this.#first): void {
    if (isWanted && text !== '') this.#kept.push(text);
  }
}

/** Returns the terminator of these lines, or `null` if they are one line so far. */
function terminatorOf(text: string, isLast: boolean): string | null {
  if (text.includes('\r\n')) return '\r\n';
  if (text.includes('\n')) return '\n';
  const end = text.indexOf('\r');
  return end >= 0 && (isLast || end < text.length - 1) ? '\r' : null;
}
