import type { BashResult, OutputChunk } from 'agent-bash';

/** How long a command may go on after its last wanted line, in ms. */
const AFTER_LAST_LINE_MS = 2_000;
/** What it may write in that time before its pipe is held, so that `yes | head` fills no disk. */
const AFTER_LAST_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Does what `head` does to the command before it: ends it, 2 s after the last wanted line of stdout. One that comes to
 * its end in that time keeps its exit code.
 */
export class HeadStop {
  readonly #lines: number;
  readonly #end: () => void;
  #seen = 0;
  #written = 0;
  #timer: NodeJS.Timeout | undefined;
  #release: () => void = () => {};
  readonly #released = new Promise<void>((resolve) => {
    this.#release = resolve;
  });

  /** `end` is called once, when the time is over. */
  constructor(lines: number, end: () => void) {
    this.#lines = lines;
    this.#end = end;
  }

  /** An `onOutput` listener. */
  readonly onOutput = ({ stream, text }: OutputChunk): void | Promise<void> => {
    if (this.#timer !== undefined) {
      this.#written += text.length;
      if (this.#written > AFTER_LAST_LINE_BYTES) return this.#released;
    } else if (stream === 'stdout') {
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#seen += 1;
      if (this.#seen >= this.#lines) {
        this.#timer = setTimeout(() => {
          this.#release();
          this.#end();
        }, AFTER_LAST_LINE_MS);
      }
    }
  };

  /** Lets go of the command; to be called when it has ended or is being ended. */
  close(): void {
    clearTimeout(this.#timer);
    this.#release();
  }

  /** Reads as the plain success that the pipe would have had, where the command was ended after its last wanted line. */
  outcome(result: BashResult, abortedByCaller: boolean): BashResult {
    const ended = result.status === 'timed-out' || (result.status === 'aborted' && !abortedByCaller);
    if (this.#timer === undefined || !ended) return result;
    const lines = this.#lines === 1 ? 'the first line' : `the first ${this.#lines} lines`;
    const note = `the command was ended after ${lines} of stdout, as head asks`;
    return { ...result, status: 'exited', exitCode: 0, signal: null, notes: [...result.notes, note] };
  }
}
