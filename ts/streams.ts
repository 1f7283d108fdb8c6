import type { OutputChunk } from '../native.cjs';

/**
 * What the other entries of this package ask of `bash` and users do not: an option by this name, out of reach of those who
 * only know the types. The entries are bundled apart, so that the name is one of the whole process.
 */
export const STREAMS: unique symbol = Symbol.for('agent-bash.streams') as never;

/** For a caller who has the streams of one command as such. */
export interface Streams {
  /** Live output is bytes, each a character from U+0000 to U+00FF, where `sanitize` is `false`. */
  bytes: boolean;
  /** Its standard input is written while it runs; else it is what `stdin` says. */
  fed: boolean;
  /** It runs, with this pid. Not called for one that ends without having been started. */
  started(pid: number, input: Input): void;
  /** Its shell has ended; what is left in its pipes, and the result, are still to come. */
  over(): void;
}

/** The standard input of a command that runs. */
export interface Input {
  /** Resolves when all of it is written: with `false` when nobody reads it any more. One at a time. */
  write(bytes: Uint8Array): Promise<boolean>;
  /** No more will come; what was written before is read to its end. */
  end(): void;
}

/** The end of the streams that the core tells of, for one command. */
export class StreamsEnd {
  readonly #streams: Streams;
  readonly #decoded = decoder();
  #over = false;
  #written: (open: boolean) => void = () => {};

  constructor(streams: Streams) {
    this.#streams = streams;
  }

  /** Takes one event of the core; `feed` gives it the next bytes, or none at their end. */
  hear(event: { started?: number; over?: boolean; fed?: boolean }, feed: (bytes?: Uint8Array) => void): void {
    if (event.fed !== undefined) this.#written(event.fed);
    else if (event.over) {
      this.#over = true;
      // What was given after the core had said this is not answered any more.
      this.#written(false);
      this.#streams.over();
    } else if (event.started !== undefined) {
      this.#streams.started(event.started, {
        write: (bytes) => this.#write(bytes, feed),
        end: () => feed(),
      });
    }
  }

  /** Output as those see it who want text. */
  asText(chunk: OutputChunk): OutputChunk {
    return this.#streams.bytes ? this.#decoded(chunk) : chunk;
  }

  #write(bytes: Uint8Array, feed: (bytes: Uint8Array) => void): Promise<boolean> {
    // After its end nothing answers any more.
    if (this.#over) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#written = resolve;
      feed(bytes);
    });
  }
}

/** Makes text of live output that is bytes, whatever its split. */
export function decoder(): (chunk: OutputChunk) => OutputChunk {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  return ({ stream, text }) => ({
    stream,
    text: decoders[stream].decode(Buffer.from(text, 'latin1'), { stream: true }),
  });
}
