import type { Readable, Writable } from 'node:stream';
import { onAbort } from '../../core/abort.ts';
import { failure } from '../../sandbox/errors.ts';
import type { RunningCommand } from '../shared/running-command.ts';
import { writableTo } from '../shared/writable.ts';
import type { CommandResult, Listeners, Output } from './output.ts';

/** The handle of a process, with the members of Mastra's `ProcessHandle`. */
export class Process {
  readonly pid: string;
  readonly command: string;
  /** `undefined` while it runs. */
  exitCode: number | undefined;
  readonly #running: RunningCommand;
  readonly #output: Output;
  readonly #ended: Promise<CommandResult>;
  #killed = false;
  #isClosed = false;
  #writer: Writable | undefined;

  constructor(pid: number, command: string, running: RunningCommand, output: Output, ended: Promise<CommandResult>) {
    this.pid = String(pid);
    this.command = command;
    this.#running = running;
    this.#output = output;
    this.#ended = ended.then((result) => {
      this.exitCode = result.exitCode;
      return result;
    });
    this.#ended.catch(() => {});
  }

  get stdout(): string {
    return this.#output.stdout.text;
  }

  get stderr(): string {
    return this.#output.stderr.text;
  }

  get stdoutTruncated(): boolean {
    return this.stdoutDroppedBytes > 0;
  }

  get stderrTruncated(): boolean {
    return this.stderrDroppedBytes > 0;
  }

  get stdoutDroppedBytes(): number {
    return this.#output.stdout.dropped;
  }

  get stderrDroppedBytes(): number {
    return this.#output.stderr.dropped;
  }

  get reader(): Readable {
    return this.#output.reader;
  }

  get writer(): Writable {
    // An input that is closed already is no error.
    const end = () => this.closeStdin().catch(() => {});
    this.#writer ??= writableTo((chunk) => this.sendStdin(chunk), end);
    return this.#writer;
  }

  /** Resolves with the end. An abort of `abortSignal` ends the process. */
  async wait({ abortSignal, ...listeners }: Listeners & { abortSignal?: AbortSignal } = {}): Promise<CommandResult> {
    const { abort } = this.#running;
    if (abortSignal?.aborted) abort();
    const unlisten = this.#output.listen(listeners);
    const unlink = abortSignal && onAbort(abortSignal, abort);
    this.#output.waited();
    return await this.#ended.finally(() => {
      unlisten();
      unlink?.();
    });
  }

  /**
   * Ends the process and all that it has left running. Resolves when they are gone: `true` the first time, if it had
   * not exited.
   */
  async kill(): Promise<boolean> {
    const first = this.exitCode === undefined && !this.#killed;
    this.#killed = true;
    this.#output.waited();
    await this.#running.end();
    await this.#ended.catch(() => {});
    return first;
  }

  /** Resolves once the data is written. Rejects if nobody reads it any more. */
  async sendStdin(data: string | Uint8Array): Promise<void> {
    this.#checkInput();
    const isRead = await this.#running.write(Buffer.from(data));
    if (!isRead) throw failure('EPIPE', `process ${this.pid} does not read its standard input any more`);
  }

  /** Ends the standard input after what was sent. */
  async closeStdin(): Promise<void> {
    if (this.#isClosed) return;
    this.#checkInput();
    this.#isClosed = true;
    await this.#running.closeInput();
  }

  #checkInput(): void {
    if (this.exitCode !== undefined) {
      throw failure('EPIPE', `process ${this.pid} has already exited with code ${this.exitCode}`);
    }
    if (!this.#running.isFed) throw failure('EPIPE', `process ${this.pid} has no open standard input`);
  }
}
