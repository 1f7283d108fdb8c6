import type { OutputChunk } from '../../native.cjs';
import { internalKey } from './internal.ts';

/**
 * Names the option of `bash` by which the other entries of this package take the streams of a command themselves.
 */
const STREAMS: unique symbol = internalKey('streams');

/** The most bytes of input that are passed on at once. The link to a target takes no message of more than 80 MiB. */
const PIECE = 8 * 1024 * 1024;

/** Returns the options of a command whose streams the caller takes. */
export function withStreams<Options extends object>(options: Options, streams: Streams): Options {
  return { ...options, [STREAMS]: streams };
}

/** Returns the caller that takes the streams of a command; `undefined` if there is none. */
export function streamsIn(options: object): Streams | undefined {
  return (options as { [STREAMS]?: Streams })[STREAMS];
}

/** A caller that handles the streams of one command itself. */
export interface Streams {
  /** Whether live output is bytes, each a character from U+0000 to U+00FF, if `sanitize` is `false`. */
  bytes: boolean;
  /** Whether the standard input is written while the command runs. Otherwise it is `stdin`. */
  fed: boolean;
  /** The command runs, with this pid. Not called for a command that ends before its start. */
  started(pid: number, input: Input): void;
  /** The shell has exited. The rest of its output and the result follow. */
  over(): void;
}

/** The standard input of a running command. */
export interface Input {
  /** Resolves once all bytes are written, or with `false` if no process reads them any more. One call at a time. */
  write(bytes: Uint8Array): Promise<boolean>;
  /** Closes the input. Call it after the last write has settled. */
  end(): void;
}

/** Passes the stream events of one command to its caller. */
export class StreamsEnd {
  readonly #streams: Streams;
  readonly #decoded = decoder();
  #over = false;
  #written: (open: boolean) => void = () => {};

  constructor(streams: Streams) {
    this.#streams = streams;
  }

  /** The shell runs. `feed` writes to its standard input. Without bytes, it closes the input. */
  onStarted(pid: number, feed: (bytes?: Uint8Array) => void): void {
    this.#streams.started(pid, { write: (bytes) => this.#write(bytes, feed), end: () => feed() });
  }

  /** The last bytes were written. `open`: the command still reads. */
  onFed(open: boolean): void {
    this.#written(open);
  }

  /** The shell has exited. */
  onExited(): void {
    this.#over = true;
    // The core does not answer bytes that it gets after this event.
    this.#written(false);
    this.#streams.over();
  }

  /** Returns output as text, for listeners that do not take bytes. */
  asText(chunk: OutputChunk): OutputChunk {
    return this.#streams.bytes ? this.#decoded(chunk) : chunk;
  }

  async #write(bytes: Uint8Array, feed: (bytes: Uint8Array) => void): Promise<boolean> {
    let rest = bytes;
    while (rest.length > PIECE) {
      if (!(await this.#pass(rest.subarray(0, PIECE), feed))) return false;
      rest = rest.subarray(PIECE);
    }
    return this.#pass(rest, feed);
  }

  #pass(bytes: Uint8Array, feed: (bytes: Uint8Array) => void): Promise<boolean> {
    // The core answers no bytes after the exit of the shell.
    if (this.#over) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#written = resolve;
      feed(bytes);
    });
  }
}

/** Decodes live output that is bytes, at any split. */
export function decoder(): (chunk: OutputChunk) => OutputChunk {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  return ({ stream, text }) => ({
    stream,
    text: decoders[stream].decode(Buffer.from(text, 'latin1'), { stream: true }),
  });
}
