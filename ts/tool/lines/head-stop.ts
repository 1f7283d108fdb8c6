import type { BashResult, OutputChunk } from 'agent-bash';

/** Time a command may run after its last wanted line, in ms. */
export const AFTER_LAST_LINE_MS = 2_000;
/** Bytes it may write in that time before its pipe is held. `yes | head` must not fill a disk. */
const AFTER_LAST_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Does what `head` does to the command before it: ends the command 2 s after the last wanted line of stdout. A command
 * that exits within that time keeps its exit code.
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

  /** `end` is called once, after that time. */
  constructor(lines: number, end: () => void) {
    this.#lines = lines;
    this.#end = end;
  }

  /** The `onOutput` listener. */
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

  /** Releases the command's pipe. Called when the command has exited or is being ended. */
  close(): void {
    clearTimeout(this.#timer);
    this.#release();
  }

  /** Returns the plain success that the pipe would have had, if the command was ended after its last wanted line. */
  outcome(result: BashResult, abortedByCaller: boolean): BashResult {
    const ended = result.status === 'timed-out' || (result.status === 'aborted' && !abortedByCaller);
    if (this.#timer === undefined || !ended) return result;
    const lines = this.#lines === 1 ? 'the first line' : `the first ${this.#lines} lines`;
    const note = `the command was ended after ${lines} of stdout, as head asks`;
    return { ...result, status: 'exited', exitCode: 0, signal: null, notes: [...result.notes, note] };
  }
}
