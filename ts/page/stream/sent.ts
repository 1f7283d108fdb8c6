/** Characters of events that are kept for a tab that reconnects. */
const KEPT = 512 * 1024;

/** The last events of a stream, so that one whose connection broke goes on where it stopped. */
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

  /** Returns the events after one; `null` if they are not all kept. */
  after(number: number): string[] | null {
    if (number < this.#first - 1 || number >= this.next) return null;
    return this.#texts.slice(number + 1 - this.#first);
  }
}
