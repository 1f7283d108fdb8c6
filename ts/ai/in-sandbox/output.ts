import { BashError, type BashOptions, type BashTruncation, bash } from 'agent-bash';
import { INNER, type Inner } from '../../inner.ts';
import { messageOf } from '../../listener.ts';

/** What is held of a stream to be written out whole, in bytes, whatever `spill.maxBytes` says. */
const MOST_HELD_BYTES = 64 * 1024 * 1024;
/** What a snapshot shows of each stream, as for a command of this machine. */
const SNAPSHOT_BYTES = 8 * 1024;

type Stream = 'stdout' | 'stderr';
type Text = InstanceType<Inner['NativeText']>;

/** A stream that is to be written out: all that there is of it. */
export interface Whole {
  stream: Stream;
  text: string;
  /** Why it is not all, or `null`. */
  cut: string | null;
}

/** Where a stream was written, or why not. */
export interface Written {
  path: string | null;
  error: string | null;
}

/** The output of one command from its bytes to the text of its result: cleaned, cut and counted by the core, as that of any command. */
export class Output {
  readonly #texts: Record<Stream, Text>;
  readonly #most: number;
  readonly #listener: BashOptions['onOutput'];

  /** Throws `ERR_BASH_INVALID_ARG` for limits that cannot be. */
  constructor({ truncate, sanitize = true, spill, onOutput }: BashOptions) {
    const { NativeText } = (bash as unknown as { [INNER]: Inner })[INNER];
    const { ansi = true, progress = 'collapse' } = typeof sanitize === 'object' ? sanitize : {};
    const { maxBytes = MOST_HELD_BYTES } = typeof spill === 'object' ? spill : {};
    this.#most = Math.min(maxBytes, MOST_HELD_BYTES);
    this.#listener = onOutput;
    try {
      const make = (stderr: boolean) =>
        new NativeText(stderr, truncate, sanitize === false, !ansi, progress === 'keep', this.#most);
      this.#texts = { stdout: make(false), stderr: make(true) };
    } catch (error) {
      throw new BashError('ERR_BASH_INVALID_ARG', messageOf(error));
    }
  }

  /** Takes the next bytes; a promise is to be waited for before more come. */
  async push(stream: Stream, bytes: Uint8Array): Promise<void> {
    await this.#tell(stream, this.#texts[stream].push(bytes));
  }

  /** The end of both streams. */
  async end(): Promise<void> {
    for (const stream of ['stdout', 'stderr'] as const) await this.#tell(stream, this.#texts[stream].end());
  }

  /** The last of each stream, the unfinished line included. */
  tail(): Record<Stream, string> {
    const { stdout, stderr } = this.#texts;
    return { stdout: stdout.tail(SNAPSHOT_BYTES), stderr: stderr.tail(SNAPSHOT_BYTES) };
  }

  /** The streams that do not fit, after the end. */
  whole(): Whole[] {
    return (['stdout', 'stderr'] as const).flatMap((stream) => {
      const text = this.#texts[stream].whole();
      const cut = this.#texts[stream].isBeginning() ? `it holds the first ${this.#most} bytes` : null;
      return text === null ? [] : [{ stream, text, cut }];
    });
  }

  /** What the result says of the output; nothing can be pushed any more. */
  finish(written: Partial<Record<Stream, Written>>): Record<Stream, string> & {
    truncation: BashTruncation;
    notes: string[];
  } {
    const { NativeText } = (bash as unknown as { [INNER]: Inner })[INNER];
    const [stdout, stderr] = (['stdout', 'stderr'] as const).map((stream) => {
      const { path, error } = written[stream] ?? {};
      return this.#texts[stream].finish(path, error);
    });
    const note = NativeText.replacedNote((stdout?.replaced ?? 0) + (stderr?.replaced ?? 0));
    return {
      stdout: stdout?.text ?? '',
      stderr: stderr?.text ?? '',
      truncation: { stdout: stdout?.truncation ?? null, stderr: stderr?.truncation ?? null },
      notes: note === null ? [] : [note],
    };
  }

  async #tell(stream: Stream, text: string): Promise<void> {
    if (text !== '') await this.#listener?.({ stream, text });
  }
}
