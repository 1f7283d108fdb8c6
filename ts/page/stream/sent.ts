/** Most characters of events that are kept for a tab that reconnects. */
const KEPT = 512 * 1024;

/** The last events of a stream, which are sent again after its connection broke. */
export class Sent {
  #first = 1;
  #texts: string[] = [];
  #length = 0;

  /** The number that the next event gets. */
  get next(): number {
    return this.#first + this.#texts.length;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#length += text.length;
    while (this.#length > KEPT && this.#texts.length > 1) {
      this.#length -= (this.#texts.shift() as string).length;
      this.#first += 1;
    }
  }

  /** Returns all events after the one with this number; `null` if some are not kept. */
  after(number: number): string[] | null {
    if (number < this.#first - 1 || number >= this.next) return null;
    return this.#texts.slice(number + 1 - this.#first);
  }
}
