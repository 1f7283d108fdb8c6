import { type Readable, Writable } from 'node:stream';
import { onAbort } from '../../core/abort.ts';
import type { Input } from '../../core/streams.ts';
import { failure } from '../../sandbox/errors.ts';
import type { CommandResult, Listeners, Output } from './output.ts';

/** A process that has started. */
export interface Started {
  command: string;
  pid: number;
  output: Output;
  /** `null` if it reads nothing. */
  input: Input | null;
  ended: Promise<CommandResult>;
  /** Ends the command. */
  abort(): void;
  /** Ends the command and all that it has left running. Resolves when it is gone. */
  end(): Promise<void>;
}

/** The handle of a process, with the members of Mastra's `ProcessHandle`. */
export class Process {
  readonly pid: string;
  readonly command: string;
  /** `undefined` while it runs. */
  exitCode: number | undefined;
  readonly #started: Started;
  #killed = false;
  #written: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #writer: Writable | undefined;

  constructor(started: Started) {
    this.pid = String(started.pid);
    this.command = started.command;
    this.#started = started;
    started.ended.then(
      ({ exitCode }) => {
        this.exitCode = exitCode;
      },
      () => {},
    );
  }

  get stdout(): string {
    return this.#started.output.stdout.text;
  }

  get stderr(): string {
    return this.#started.output.stderr.text;
  }

  get stdoutTruncated(): boolean {
    return this.stdoutDroppedBytes > 0;
  }

  get stderrTruncated(): boolean {
    return this.stderrDroppedBytes > 0;
  }

  get stdoutDroppedBytes(): number {
    return this.#started.output.stdout.dropped;
  }

  get stderrDroppedBytes(): number {
    return this.#started.output.stderr.dropped;
  }

  get reader(): Readable {
    return this.#started.output.reader;
  }

  get writer(): Writable {
    this.#writer ??= new Writable({
      write: (chunk: Buffer, _, done) => void this.sendStdin(chunk).then(() => done(), done),
      // An input that is closed already is no error.
      final: (done) =>
        void this.closeStdin().then(
          () => done(),
          () => done(),
        ),
    });
    return this.#writer;
  }

  /** Resolves with the end. An abort of `abortSignal` ends the process. */
  async wait({ abortSignal, ...listeners }: Listeners & { abortSignal?: AbortSignal } = {}): Promise<CommandResult> {
    const { ended, output, abort } = this.#started;
    if (abortSignal?.aborted) abort();
    const unlisten = output.listen(listeners);
    const unlink = abortSignal && onAbort(abortSignal, abort);
    output.waited();
    return await ended.finally(() => {
      unlisten();
      unlink?.();
    });
  }

  /**
   * Ends the process and all that it has left running. Resolves when they are gone: `true` the first time, if it had
   * not exited.
   */
  async kill(): Promise<boolean> {
    const { ended, output, end } = this.#started;
    const first = this.exitCode === undefined && !this.#killed;
    this.#killed = true;
    output.waited();
    await end();
    await ended.catch(() => {});
    return first;
  }

  /** Resolves once the data is written. Rejects if nobody reads it any more. */
  async sendStdin(data: string | Uint8Array): Promise<void> {
    const input = this.#input();
    const sent = this.#written.then(() => input.write(Buffer.from(data)));
    this.#written = sent;
    if (!(await sent)) throw failure('EPIPE', `process ${this.pid} does not read its standard input any more`);
  }

  /** Ends the standard input after what was sent. */
  async closeStdin(): Promise<void> {
    if (this.#isClosed) return;
    const input = this.#input();
    this.#isClosed = true;
    await this.#written;
    input.end();
  }

  #input(): Input {
    const { input } = this.#started;
    if (this.exitCode !== undefined) {
      throw failure('EPIPE', `process ${this.pid} has already exited with code ${this.exitCode}`);
    }
    if (input === null || this.#isClosed) throw failure('EPIPE', `process ${this.pid} has no open standard input`);
    return input;
  }
}
