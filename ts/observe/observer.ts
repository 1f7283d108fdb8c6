import type { OutputChunk } from '../../native.cjs';
import { threadId } from '../core/builtins.ts';
import { BashError } from '../errors.ts';
import type { BashResult } from '../result.ts';
import type { BashOptions } from '../types.ts';
import {
  channels,
  isObserved,
  type Observed,
  type ObservedBlock,
  type ObservedKill,
  type ObservedKind,
} from './channels.ts';
import type { TaskObserver } from './tasks.ts';

let runs = 0;

/** Publishes the events of one run. A run that began without subscribers has no observer. */
export class Observer {
  readonly #kind: ObservedKind;
  readonly #command: string;
  readonly #args: readonly string[];
  readonly #cwd: () => string;
  readonly #id: string;
  #pid = 0;
  /** The observer of the task that it may become. */
  #tasks: TaskObserver | undefined;
  /** Events from before the pid was known. */
  #early: (() => void)[] = [];

  private constructor(kind: ObservedKind, command: string, args: readonly string[], cwd: () => string) {
    this.#kind = kind;
    this.#command = command;
    this.#args = args;
    this.#cwd = cwd;
    this.#id = `${threadId}:${++runs}`;
  }

  /**
   * `cwd` is called only if no other source knows the directory. Returns `undefined` without subscribers, so that
   * nothing is computed for them.
   */
  static of(kind: ObservedKind, command: string, { args = [] }: BashOptions, cwd: () => string): Observer | undefined {
    return isObserved() ? new Observer(kind, command, args, cwd) : undefined;
  }

  /** Returns whether the output channel has subscribers. */
  get wantsOutput(): boolean {
    return channels.output.hasSubscribers;
  }

  /** `cwd`: the directory in which the command really runs, if the event knows it. */
  started(pid: number, cwd?: string | undefined): void {
    if (this.#pid !== 0 || pid === 0) return;
    this.#pid = pid;
    if (this.#kind !== 'task') this.#tasks?.hold(pid);
    if (channels.start.hasSubscribers) {
      const args = [...this.#args];
      channels.start.publish({ ...this.#observed(), command: this.#command, args, cwd: cwd ?? this.#cwd() });
    }
    for (const event of this.#early.splice(0)) event();
  }

  output({ stream, text }: OutputChunk): void {
    this.#publish(() => {
      if (channels.output.hasSubscribers) channels.output.publish({ ...this.#observed(), stream, text });
    });
  }

  kill(reason: ObservedKill['reason'], signal: string | null = null): void {
    this.#publish(() => {
      if (channels.kill.hasSubscribers) channels.kill.publish({ ...this.#observed(), reason, signal });
    });
  }

  /**
   * Publishes the end of a run before its caller learns of it, and returns the result. `tasks` publishes the rest if
   * the command goes on as a task, after its exit.
   */
  async follow<T extends BashResult>(run: Promise<T>, tasks?: TaskObserver | undefined): Promise<T> {
    this.#tasks = tasks;
    try {
      const result = await run;
      this.#ended(result);
      tasks?.release(this.#pid);
      if (result.background) tasks?.started(result.background);
      return result;
    } catch (error) {
      tasks?.release(this.#pid);
      if (error instanceof BashError) this.refused(error);
      throw error;
    }
  }

  /** Publishes an error if it is a refusal of the safety engine. */
  refused({ code, message, findings = [] }: BashError): void {
    if (code !== 'ERR_BASH_BLOCKED' || !channels.block.hasSubscribers) return;
    const run = { id: this.#id, kind: this.#kind, command: this.#command, cwd: this.#cwd() };
    channels.block.publish({ ...run, message, findings: structuredClone(findings) } satisfies ObservedBlock);
  }

  // The observer of a registry publishes its tasks, and without a pid nothing was started.
  #ended(result: BashResult): void {
    if (result.pid === 0 || this.#kind === 'task') return;
    this.started(result.pid);
    if (result.status === 'timed-out') this.kill('timeout');
    if (!channels.exit.hasSubscribers) return;
    const { status, exitCode, signal, durationMs, timeoutMs, usage, survivors, confinement, notes } = result;
    const end = { status, exitCode, signal, durationMs, timeoutMs, taskId: result.background?.id ?? null };
    const { runId, receipt, undo, view } = result;
    const record = { runId, receipt, undo, tokens: view?.tokens ?? null };
    // Copies: the caller may change its result.
    channels.exit.publish(
      structuredClone({ ...this.#observed(), ...end, usage, survivors, confinement, ...record, notes }),
    );
  }

  #observed(): Observed {
    return { id: this.#id, kind: this.#kind, pid: this.#pid };
  }

  #publish(event: () => void): void {
    if (this.#pid === 0) this.#early.push(event);
    else event();
  }
}
