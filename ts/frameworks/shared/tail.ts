import { type BashOptions, bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';

/** What is kept of an output that a framework reads later, in bytes, unless it says otherwise. */
export const KEPT_BYTES: number = 1024 * 1024;
/** The most that a tail keeps, in bytes. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Bytes of the longest character. */
const CHARACTER = 4;

/** A part of an output. */
export type Kept = ReturnType<typeof keeper>;

/** Makes a keeper of a part of an output, in which the core cleans and cuts it. */
export function keeper(truncate: object, sanitize: BashOptions['sanitize'], stderr = false) {
  return new (innerOf(bash).NativeText)(stderr, JSON.stringify({ truncate, sanitize }), 0);
}

/** Returns the option by which output comes before its line has ended. Progress lines collapse where it is kept. */
export function atOnce(sanitize: BashOptions['sanitize'] = true): NonNullable<BashOptions['sanitize']> {
  return sanitize === false ? false : { ...(sanitize !== true && sanitize), progress: 'keep' };
}

/** The last part of an output, while it goes on and at its end. The core cleans it, and cuts it at a character. */
export class Tail {
  readonly #maxBytes: number;
  readonly #kept: Kept;
  /** Bytes of the finished lines. */
  #bytes = 0;

  /**
   * Keeps at most this many bytes, 16 MiB at most. `sanitize` is the option of `bash()`, `false` for text that is clean
   * already: cleaning is done once, where the unfinished line is still to be seen.
   */
  constructor(maxBytes: number, sanitize: BashOptions['sanitize'] = false) {
    this.#maxBytes = Math.min(Math.max(0, Math.floor(maxBytes)), MOST_BYTES);
    this.#kept = keeper({ keep: 'tail', maxBytes: this.#maxBytes + CHARACTER }, sanitize);
  }

  /** Takes the next text. */
  push(text: string): void {
    this.#bytes += Buffer.byteLength(this.#kept.push(Buffer.from(text)));
  }

  /** The last part, with the unfinished line. */
  get text(): string {
    return this.#kept.tail(this.#maxBytes);
  }

  /** The number of bytes before `text`; 0 if it is the whole output. An unfinished line may count once it ends. */
  get dropped(): number {
    const seen = Buffer.byteLength(this.#kept.tail(this.#maxBytes + CHARACTER));
    if (seen <= this.#maxBytes) return 0;
    return Math.max(seen, this.#bytes) - Buffer.byteLength(this.text);
  }
}
