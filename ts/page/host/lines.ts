import { StringDecoder } from 'node:string_decoder';

/** Splits the bytes of a stream into lines. */
export class Lines {
  readonly #decoder = new StringDecoder('utf8');
  readonly #most: number;
  #rest: string[] = [];
  #length = 0;

  /** `most` is the most characters of a line. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Returns the lines that these bytes complete. Throws if a line is too long. */
  add(bytes: Uint8Array): string[] {
    const lines = this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).split('\n');
    const rest = lines.pop() as string;
    if (lines.length > 0) {
      lines[0] = [...this.#rest, lines[0]].join('');
      this.#rest = [];
      this.#length = 0;
    }
    if (rest !== '') this.#rest.push(rest);
    this.#length += rest.length;
    if (this.#length > this.#most || lines.some((line) => line.length > this.#most)) {
      throw new Error(`a line of more than ${this.#most} characters`);
    }
    return lines;
  }
}
