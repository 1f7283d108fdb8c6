import type { BashResult, OutputChunk } from '../../native.cjs';
import { threadId } from '../builtins';
import { BashError } from '../errors';
import type { BashOptions } from '../types';
import {
  channels,
  isObserved,
  type Observed,
  type ObservedBlock,
  type ObservedKill,
  type ObservedKind,
} from './channels';
import type { TaskObserver } from './tasks';

let runs = 0;

/** Tells of one run on the channels. There is none for a run that began when nobody listened. */
export class Observer {
  readonly #kind: ObservedKind;
  readonly #command: string;
  readonly #args: readonly string[];
  readonly #cwd: () => string;
  readonly #id: string;
  #pid = 0;
  /** What came before the news that it runs. */
  #early: (() => void)[] = [];

  private constructor(kind: ObservedKind, command: string, args: readonly string[], cwd: () => string) {
    this.#kind = kind;
    this.#command = command;
    this.#args = args;
    this.#cwd = cwd;
    this.#id = `${threadId}:${++runs}`;
  }

  /** `cwd` is asked for where nobody else can tell. `undefined` where nobody listens: nothing is to be done for anybody then. */
  static of(kind: ObservedKind, command: string, { args = [] }: BashOptions, cwd: () => string): Observer | undefined {
    return isObserved() ? new Observer(kind, command, args, cwd) : undefined;
  }

  /** Whether somebody listens to output, which is sent here for nobody else. */
  get hearsOutput(): boolean {
    return channels.output.hasSubscribers;
  }

  /** `cwd`: the folder that it really runs in, where that is known better than from its options. */
  started(pid: number, cwd?: string | undefined): void {
    if (this.#pid !== 0 || pid === 0) return;
    this.#pid = pid;
    if (channels.start.hasSubscribers) {
      const args = [...this.#args];
      channels.start.publish({ ...this.#observed(), command: this.#command, args, cwd: cwd ?? this.#cwd() });
    }
    for (const event of this.#early.splice(0)) event();
  }

  output({ stream, text }: OutputChunk): void {
    this.#tell(() => {
      if (channels.output.hasSubscribers) channels.output.publish({ ...this.#observed(), stream, text });
    });
  }

  kill(reason: ObservedKill['reason'], signal: string | null = null): void {
    this.#tell(() => {
      if (channels.kill.hasSubscribers) channels.kill.publish({ ...this.#observed(), reason, signal });
    });
  }

  /** Tells of its end, before its caller hears of it, and gives what it has come to; `tasks` tells on where it is a task from then on. */
  async follow<T extends BashResult>(run: Promise<T>, tasks?: TaskObserver | undefined): Promise<T> {
    try {
      const result = await run;
      this.#ended(result);
      if (result.background) tasks?.started(result.background);
      return result;
    } catch (error) {
      if (error instanceof BashError) this.refused(error);
      throw error;
    }
  }

  /** Tells of an error, where it is a refusal. */
  refused({ code, message, findings = [] }: BashError): void {
    if (code !== 'ERR_BASH_BLOCKED' || !channels.block.hasSubscribers) return;
    const run = { id: this.#id, kind: this.#kind, command: this.#command, cwd: this.#cwd() };
    channels.block.publish({ ...run, message, findings: structuredClone(findings) } satisfies ObservedBlock);
  }

  // What was started in the background is a task, which its registry tells of; and nothing was started without a pid.
  #ended(result: BashResult): void {
    if (result.pid === 0 || this.#kind === 'task') return;
    this.started(result.pid);
    if (result.status === 'timed-out') this.kill('timeout');
    if (!channels.exit.hasSubscribers) return;
    const { status, exitCode, signal, durationMs, timeoutMs, usage, survivors, notes } = result;
    const end = { status, exitCode, signal, durationMs, timeoutMs, taskId: result.background?.id ?? null };
    // Copies: the caller may do with its result what it likes.
    channels.exit.publish(structuredClone({ ...this.#observed(), ...end, usage, survivors, notes }));
  }

  #observed(): Observed {
    return { id: this.#id, kind: this.#kind, pid: this.#pid };
  }

  #tell(event: () => void): void {
    if (this.#pid === 0) this.#early.push(event);
    else event();
  }
}
