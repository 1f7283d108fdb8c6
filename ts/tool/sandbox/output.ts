import { BashError, type BashOptions, type BashTruncation, bash } from 'agent-bash';
import { type Inner, innerOf } from '../../core/inner.ts';
import { messageOf } from '../../core/listener.ts';

/** Bytes of a stream kept in memory to be written to a file, whatever `spill.maxBytes` allows. */
const MOST_HELD_BYTES = 64 * 1024 * 1024;
/** Bytes of each stream that a snapshot shows, as for a local command. */
const SNAPSHOT_BYTES = 8 * 1024;

type Stream = 'stdout' | 'stderr';
type Text = InstanceType<Inner['NativeText']>;

/** A stream that is to be written to a file. */
export interface Whole {
  stream: Stream;
  text: string;
  /** The reason why the stream is incomplete, or `null`. */
  cut: string | null;
}

/** The path of a stream's file, or the reason why it could not be written. */
export interface Written {
  path: string | null;
  error: string | null;
}

/**
 * The output of one command, from bytes to the text of its result. The core cleans, cuts and counts it, as it does for
 * local commands.
 */
export class Output {
  readonly #texts: Record<Stream, Text>;
  readonly #most: number;
  readonly #listener: BashOptions['onOutput'];

  /** Throws `ERR_BASH_INVALID_ARG` for limits out of range. */
  constructor({ truncate, sanitize, spill, onOutput }: BashOptions) {
    const { NativeText } = innerOf(bash);
    const { maxBytes = MOST_HELD_BYTES } = typeof spill === 'object' ? spill : {};
    this.#most = Math.min(maxBytes, MOST_HELD_BYTES);
    this.#listener = onOutput;
    try {
      const options = JSON.stringify({ truncate, sanitize });
      const make = (stderr: boolean) => new NativeText(stderr, options, this.#most);
      this.#texts = { stdout: make(false), stderr: make(true) };
    } catch (error) {
      throw new BashError('ERR_BASH_INVALID_ARG', messageOf(error));
    }
  }

  /** Takes the next bytes. A returned promise must settle before the next call. */
  async push(stream: Stream, bytes: Uint8Array): Promise<void> {
    await this.#notify(stream, this.#texts[stream].push(bytes));
  }

  /** Ends both streams. */
  async end(): Promise<void> {
    for (const stream of ['stdout', 'stderr'] as const) await this.#notify(stream, this.#texts[stream].end());
  }

  /** Returns the last part of each stream, including an unfinished line. */
  tail(): Record<Stream, string> {
    const { stdout, stderr } = this.#texts;
    return { stdout: stdout.tail(SNAPSHOT_BYTES), stderr: stderr.tail(SNAPSHOT_BYTES) };
  }

  /** Returns the streams that exceed their limits. Valid after `end()`. */
  whole(): Whole[] {
    return (['stdout', 'stderr'] as const).flatMap((stream) => {
      const text = this.#texts[stream].whole();
      const cut = this.#texts[stream].isBeginning() ? `it holds the first ${this.#most} bytes` : null;
      return text === null ? [] : [{ stream, text, cut }];
    });
  }

  /** Returns the fields of the result. Nothing may be pushed afterwards. */
  finish(written: Partial<Record<Stream, Written>>): Record<Stream, string> & {
    truncation: BashTruncation;
    notes: string[];
  } {
    const { NativeText } = innerOf(bash);
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

  async #notify(stream: Stream, text: string): Promise<void> {
    if (text !== '') await this.#listener?.({ stream, text });
  }
}
