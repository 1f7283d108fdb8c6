import { Readable } from 'node:stream';
import type { BashOptions, BashResult, OutputChunk } from 'agent-bash';
import { guarded, type Listener } from '../../sandbox/output.ts';
import { ByteStream } from '../../sandbox/session/bytes.ts';
import { Tail } from '../shared/tail.ts';
import { told, toldAfter } from '../shared/told.ts';

/** The end of a command, in Mastra's form. */
export interface CommandResult {
  success: boolean;
  exitCode: number;
  stdout: string;
  stderr: string;
  executionTimeMs: number;
  timedOut: boolean;
  killed: boolean;
  stdoutTruncated: boolean;
  stderrTruncated: boolean;
  stdoutDroppedBytes: number;
  stderrDroppedBytes: number;
  command: string;
}

/** Callbacks for output. A returned promise holds the command back. */
export interface Listeners {
  onStdout?: ((data: string) => void) | undefined;
  onStderr?: ((data: string) => void) | undefined;
}

/** The output of one command: its last part, and those who hear all of it. */
export class Output {
  readonly #kept: Record<OutputChunk['stream'], Tail>;
  readonly #listeners = new Set<Listener>();
  #bytes: ByteStream | undefined;
  #reader: Readable | undefined;
  #result: CommandResult | undefined;
  #isAwaited = false;

  /**
   * `sanitize` cleans what is kept, `onOutput` hears both streams as the listeners do. Throws a `RangeError` if
   * `maxBytes` is no number of bytes.
   */
  constructor(
    maxBytes: number,
    listeners: Listeners,
    { sanitize, onOutput }: Pick<BashOptions, 'sanitize' | 'onOutput'>,
  ) {
    if (!(maxBytes >= 0 && (maxBytes === Infinity || Number.isInteger(maxBytes)))) {
      throw new RangeError('maxRetainedBytes must be a non-negative integer or Infinity');
    }
    this.#kept = { stdout: new Tail(maxBytes, sanitize), stderr: new Tail(maxBytes, sanitize) };
    if (onOutput) this.#listeners.add(guarded(onOutput));
    this.listen(listeners);
  }

  /** Calls these with what comes, until the returned function is called. After a throw they are not called again. */
  listen({ onStdout, onStderr }: Listeners): () => void {
    const listener = guarded(({ stream, text }) => (stream === 'stdout' ? onStdout : onStderr)?.(text));
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes the next output. */
  readonly push: Listener = async (chunk) => {
    this.#kept[chunk.stream].push(chunk.text);
    const read = chunk.stream === 'stdout' ? this.#bytes?.push(Buffer.from(chunk.text)) : undefined;
    await Promise.all([read, ...[...this.#listeners].map((listener) => listener(chunk))]);
  };

  get stdout(): Tail {
    return this.#kept.stdout;
  }

  get stderr(): Tail {
    return this.#kept.stderr;
  }

  /** All standard output: what is kept of it, and then what comes. */
  get reader(): Readable {
    if (this.#reader) return this.#reader;
    this.#bytes = new ByteStream();
    this.#bytes.push(Buffer.from(this.stdout.text));
    if (this.#isAwaited) this.#bytes.waited();
    if (this.#result) this.#bytes.close();
    this.#reader = Readable.fromWeb(this.#bytes.stream as Parameters<typeof Readable.fromWeb>[0]);
    return this.#reader;
  }

  /** Tells that somebody waits for the end, who need not read. */
  waited(): void {
    this.#isAwaited = true;
    this.#bytes?.waited();
  }

  /** Takes the end of the command. What a model must know besides the output stands in stderr. */
  async end(command: string, cwd: string, result: BashResult): Promise<CommandResult> {
    const { stderr, stdout } = this;
    const more = toldAfter(stderr.text, told(result, cwd, true));
    if (more !== '') await this.push({ stream: 'stderr', text: more });
    this.#result = {
      success: result.exitCode === 0,
      exitCode: result.exitCode ?? 0,
      stdout: stdout.text,
      stderr: stderr.text,
      executionTimeMs: result.durationMs,
      timedOut: result.status === 'timed-out',
      killed: result.status === 'aborted' || result.signal !== null,
      stdoutTruncated: stdout.dropped > 0,
      stderrTruncated: stderr.dropped > 0,
      stdoutDroppedBytes: stdout.dropped,
      stderrDroppedBytes: stderr.dropped,
      command,
    };
    this.#bytes?.close();
    return this.#result;
  }
}
