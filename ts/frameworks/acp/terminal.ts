import { randomUUID } from 'node:crypto';
import type { BashResult } from 'agent-bash';
import type { Command, Commands } from '../shared/commands.ts';
import { RunningCommand } from '../shared/running-command.ts';
import { atOnce, Tail } from '../shared/tail.ts';
import { told, toldAfter } from '../shared/told.ts';

/** The exit of a command in the words of the protocol. */
export type ExitStatus = { exitCode: number | null; signal?: string };

/** Returns the exit of a command: its code, or the signal that has ended it. */
export function exitOf({ status, exitCode, signal }: BashResult): ExitStatus {
  const isSignal = status === 'signaled' || status === 'aborted';
  return isSignal && signal !== null ? { exitCode: null, signal } : { exitCode };
}

/** A command of an agent in a terminal of the client. */
export class Terminal {
  readonly terminalId: string = randomUUID();
  readonly sessionId: string;
  /** The connection that it came by. */
  readonly connection: unknown;
  /** Resolves at the end. Rejects if nothing could be run. */
  readonly ended: Promise<ExitStatus>;
  /** Resolves once the command runs, with `false` if it was ended before. Rejects if nothing could be run. */
  readonly started: Promise<boolean>;
  readonly #tail: Tail;
  readonly #running: RunningCommand;
  /** `null` while the command runs. */
  #exit: ExitStatus | null = null;

  constructor(
    commands: Commands,
    owner: { sessionId: string; connection: unknown; outputByteLimit: number },
    command: string,
    call: Command,
  ) {
    const { sanitize, spill = false } = commands.options;
    const tail = new Tail(owner.outputByteLimit, sanitize ?? true);
    const running = new RunningCommand(commands, command, {
      ...call,
      merge: true,
      sanitize: atOnce(sanitize),
      spill,
      onOutput: ({ text }) => tail.push(text),
    });
    this.sessionId = owner.sessionId;
    this.connection = owner.connection;
    this.#tail = tail;
    this.#running = running;
    this.ended = running.ended.then((result) => {
      tail.push(toldAfter(tail.text, told(result, call.cwd ?? commands.folder, result.status !== 'signaled')));
      this.#exit = exitOf(result);
      return this.#exit;
    });
    this.ended.catch(() => {});
    this.started = running.started.then(async (pid) => pid !== null || (await running.ended).status !== 'aborted');
  }

  /** The output so far. */
  get output(): { output: string; truncated: boolean; exitStatus: ExitStatus | null } {
    return { output: this.#tail.text, truncated: this.#tail.dropped > 0, exitStatus: this.#exit };
  }

  /** Ends the command and all that it has left running. Resolves when it is gone. */
  end(): Promise<void> {
    return this.#running.end();
  }
}
