import { type BashResult, bash } from 'agent-bash';
import { withStreams } from '../../core/streams.ts';
import type { Command, Commands } from '../shared/commands.ts';
import type { Lifetime } from '../shared/lifetime.ts';
import { atOnce, Tail } from '../shared/tail.ts';
import { told, withTold } from '../shared/told.ts';

/** The exit of a command in the words of the protocol. */
export type ExitStatus = { exitCode: number | null; signal?: string };

/** Returns the exit of a command: its code, or the signal that has ended it. */
export function exitOf({ status, exitCode, signal }: BashResult): ExitStatus {
  const isSignal = status === 'signaled' || status === 'aborted';
  return isSignal && signal !== null ? { exitCode: null, signal } : { exitCode };
}

/** Returns what the agent must know of a run besides its exit. */
export function factsOf(result: BashResult, cwd: string): string {
  return told(result, cwd, result.status !== 'signaled');
}

/** Returns a start of commands that calls this once the shell runs. */
export function tellingStart(onStart: () => void): NonNullable<Command['start']> {
  const streams = { bytes: false, fed: false, started: onStart, over: () => {} };
  return (command, options) => bash(command, withStreams(options, streams));
}

/** A command of an agent in a terminal of the client. */
export class Terminal {
  readonly sessionId: string;
  /** The connection that it came by. */
  readonly connection: unknown;
  /** Resolves at the end. Rejects if nothing could be run. */
  readonly ended: Promise<ExitStatus>;
  /** Resolves once the command runs, with `false` if it was ended before. Rejects if nothing could be run. */
  readonly started: Promise<boolean>;
  /** The exit; `null` while the command runs. */
  exit: ExitStatus | null = null;
  readonly #tail: Tail;
  readonly #lifetime: Lifetime;
  #ran = true;
  #leaves = true;

  constructor(
    commands: Commands,
    owner: { sessionId: string; connection: unknown; outputByteLimit: number },
    command: string,
    call: Command,
  ) {
    this.sessionId = owner.sessionId;
    this.connection = owner.connection;
    this.#tail = new Tail(owner.outputByteLimit, commands.options.sanitize ?? true);
    this.#lifetime = commands.lifetime.within();
    let onStart = () => {};
    const starting = new Promise<boolean>((resolve) => {
      onStart = () => resolve(true);
    });
    this.ended = this.#run(commands, command, { ...call, start: tellingStart(onStart) });
    this.started = Promise.race([starting, this.ended.then(() => this.#ran)]);
  }

  /** The output so far. */
  get output(): { output: string; truncated: boolean; exitStatus: ExitStatus | null } {
    return { output: this.#tail.text, truncated: this.#tail.dropped > 0, exitStatus: this.exit };
  }

  /** Ends the command and all that it has left running. Resolves when it is gone. */
  async end(): Promise<void> {
    if (this.#leaves) await this.#lifetime.end();
    await this.ended.catch(() => {});
  }

  async #run(commands: Commands, command: string, call: Command): Promise<ExitStatus> {
    const result = await commands.run(command, {
      ...call,
      lifetime: this.#lifetime,
      merge: true,
      sanitize: atOnce(commands.options.sanitize),
      spill: commands.options.spill ?? false,
      onOutput: ({ text }) => this.#tail.push(text),
    });
    const { text } = this.#tail;
    this.#tail.push(withTold(text, factsOf(result, call.cwd ?? commands.folder)).slice(text.length));
    this.#ran = result.pid !== 0 || result.status !== 'aborted';
    this.#leaves = result.survivors.length > 0;
    this.exit = exitOf(result);
    return this.exit;
  }
}
