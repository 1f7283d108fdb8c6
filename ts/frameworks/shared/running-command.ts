import { type BashResult, bash } from 'agent-bash';
import { linkedAbort } from '../../core/abort.ts';
import { type Input, type Streams, withStreams } from '../../core/streams.ts';
import type { Command, Commands } from './commands.ts';
import type { Lifetime } from './lifetime.ts';

/** Returns a start of commands whose streams the caller follows, or feeds. */
export function startWith(streams: Partial<Streams>): NonNullable<Command['start']> {
  const whole = { bytes: false, fed: false, started: () => {}, over: () => {}, ...streams };
  return (command, options) => bash(command, withStreams(options, whole));
}

/** How the caller holds a command. */
interface Hold {
  /**
   * Whether the caller writes its standard input.
   *
   * @default false
   */
  fed?: boolean;
  /** Called when the shell has exited. The rest of its output and the result follow. */
  onExited?: () => void;
  /** Called once neither the command runs nor anything that it has left. */
  onGone?: () => void;
}

/** A command that its caller follows, feeds, and ends with all that it leaves running. */
export class RunningCommand {
  /** Resolves with the pid once the shell runs; `null` if it was ended before. Rejects if nothing could be run. */
  readonly started: Promise<number | null>;
  /** Rejects if nothing could be run. */
  readonly ended: Promise<BashResult>;
  readonly #ending: AbortController;
  readonly #lifetime: Lifetime;
  readonly #onGone: () => void;
  #input: Input | null = null;
  #written: Promise<unknown> = Promise.resolve();
  #isGone = false;

  /** Runs as `Commands.run` does, in a lifetime of its own. */
  constructor(
    commands: Commands,
    command: string,
    call: Omit<Command, 'start' | 'lifetime'>,
    { fed = false, onExited = () => {}, onGone = () => {} }: Hold = {},
  ) {
    const { controller, unlink } = linkedAbort([call.signal]);
    this.#ending = controller;
    this.#lifetime = commands.lifetime.within();
    this.#onGone = onGone;
    let begin: (pid: number) => void = () => {};
    const begun = new Promise<number>((resolve) => {
      begin = resolve;
    });
    const started = (pid: number, input: Input) => {
      if (fed) this.#input = input;
      begin(pid);
    };
    const start = startWith({ fed, started, over: onExited });
    const held = { signal: controller.signal, lifetime: this.#lifetime, start };
    this.ended = commands.run(command, { ...call, ...held }).finally(unlink);
    this.ended.then(
      ({ survivors }) => survivors.length === 0 && this.#gone(),
      () => this.#gone(),
    );
    this.started = Promise.race([begun, this.ended.then(({ pid }) => pid || null)]);
    this.started.catch(() => {});
  }

  /** Whether its standard input can be written. */
  get isFed(): boolean {
    return this.#input !== null;
  }

  /** Writes after what was written before. Resolves with `false` if no process reads it any more. */
  write(bytes: Uint8Array): Promise<boolean> {
    const input = this.#input;
    const writing = this.#written.then(async () => (await input?.write(bytes)) ?? false);
    this.#written = writing;
    return writing;
  }

  /** Closes the standard input after what was written. */
  async closeInput(): Promise<void> {
    const input = this.#input;
    this.#input = null;
    await this.#written;
    input?.end();
  }

  /** Ends the command as its signal would. */
  readonly abort = (): void => this.#ending.abort();

  /** Ends the command and all that it has left running. Resolves when it is gone. */
  async end(): Promise<void> {
    if (!this.#isGone) await this.#lifetime.end();
    await this.ended.catch(() => {});
    this.#gone();
  }

  #gone(): void {
    if (!this.#isGone) this.#onGone();
    this.#isGone = true;
  }
}
