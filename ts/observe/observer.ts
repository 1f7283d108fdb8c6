import type { BackgroundTask, OutputChunk } from '../../native.cjs';
import { threadId } from '../core/builtins.ts';
import { BashError } from '../errors.ts';
import type { BashResult } from '../result.ts';
import { thereOf } from '../target/handle.ts';
import type { CommandOptions } from '../types.ts';
import {
  channels,
  isObserved,
  type Observed,
  type ObservedBlock,
  type ObservedCall,
  type ObservedExit,
  type ObservedKill,
  type ObservedKind,
  type ObservedReturn,
  type ObservedReuse,
} from './channels.ts';
import type { TaskObserver } from './tasks.ts';

let runs = 0;

/** Publishes the events of one call and of its run. A call that was made without subscribers has no observer. */
export class Observer {
  readonly #kind: ObservedKind;
  readonly #command: string;
  readonly #args: readonly string[];
  readonly #cwd: () => string;
  readonly #target: string | null;
  readonly #id: string;
  #pid = 0;
  /** The variables that subscribers add for the command. */
  #added: ObservedCall['env'] = {};
  /** The observer of the task that it may become. */
  #tasks: TaskObserver | undefined;
  /** Events from before the pid was known. */
  #early: (() => void)[] = [];

  private constructor(kind: ObservedKind, command: string, { args = [], target }: CommandOptions, cwd: () => string) {
    this.#kind = kind;
    this.#command = command;
    this.#args = args;
    this.#cwd = cwd;
    this.#target = thereOf(target)?.id ?? null;
    this.#id = `${threadId}:${++runs}`;
  }

  /**
   * Publishes the call. `follow` or `starts` must come next. `cwd` is called only if no other source knows the
   * directory. Returns `undefined` without subscribers, so that nothing is computed for them.
   */
  static of(kind: ObservedKind, command: string, options: CommandOptions, cwd: () => string): Observer | undefined {
    if (!isObserved()) return undefined;
    const { args = [], actor } = options;
    const observer = new Observer(kind, command, options, cwd);
    if (channels.call.hasSubscribers) {
      const call = { id: observer.#id, kind, command, args: [...args], actor: actor ? { ...actor } : null };
      const target = observer.#target;
      channels.call.publish({ ...call, target, env: observer.#added } satisfies ObservedCall);
    }
    return observer;
  }

  /**
   * Adds the variables of subscribers to the `env` of a call, unless the caller speaks of one of them. `session`: the
   * variables of its session.
   */
  withVariables<T extends CommandOptions>(options: T, session: CommandOptions['env'] = {}): T {
    const added = Object.keys(this.#added);
    const given = { ...session, ...options.env };
    if (added.length === 0 || added.some((name) => Object.hasOwn(given, name))) return options;
    return { ...options, env: { ...this.#added, ...options.env } };
  }

  /** Returns whether the output channel has subscribers. */
  get wantsOutput(): boolean {
    return channels.output.hasSubscribers;
  }

  /** Returns whether the start is needed when it happens: to tell of it, of later events, or of a task. */
  wantsStart({ registry }: CommandOptions): boolean {
    const { start, output, kill } = channels;
    return start.hasSubscribers || output.hasSubscribers || kill.hasSubscribers || registry !== undefined;
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
   * Publishes the end of a run and of its call before the caller learns of it, and returns the result. `tasks`
   * publishes the rest if the command goes on as a task, after its exit.
   */
  async follow<T extends BashResult>(run: Promise<T>, tasks?: TaskObserver | undefined): Promise<T> {
    this.#tasks = tasks;
    try {
      const result = await run;
      this.#reused(result);
      this.#ended(result);
      tasks?.release(this.#pid);
      if (result.background) tasks?.started(result.background);
      this.#returned(result.pid, result.status, result.background?.id ?? null);
      return result;
    } catch (error) {
      tasks?.release(this.#pid);
      this.#failed(error);
      throw error;
    }
  }

  /** Publishes the start of a task and the end of its call before the caller learns of it, and returns the task. */
  async starts(start: Promise<BackgroundTask>, tasks: TaskObserver | undefined): Promise<BackgroundTask> {
    try {
      const task = await start;
      tasks?.started(task);
      this.#returned(task.pid, 'backgrounded', task.id);
      return task;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  #failed(error: unknown): void {
    if (error instanceof BashError) this.#refused(error);
    this.#returned(this.#pid, null, null, error instanceof BashError ? error.code : null);
  }

  #returned(pid: number, status: ObservedReturn['status'], taskId: string | null, code: string | null = null): void {
    if (!channels.returned.hasSubscribers) return;
    channels.returned.publish({ ...this.#observed(), pid, status, taskId, code } satisfies ObservedReturn);
  }

  /** Publishes an error if it is a refusal of the safety engine. */
  #refused({ code, message, findings = [] }: BashError): void {
    if (code !== 'ERR_BASH_BLOCKED' || !channels.block.hasSubscribers) return;
    const run = { id: this.#id, kind: this.#kind, command: this.#command, cwd: this.#cwd(), target: this.#target };
    channels.block.publish({ ...run, message, findings: structuredClone(findings) } satisfies ObservedBlock);
  }

  #reused({ runId, exitCode, reused }: BashResult): void {
    if (!reused || !channels.reuse.hasSubscribers) return;
    const call = { id: this.#id, kind: this.#kind, command: this.#command, runId, exitCode };
    channels.reuse.publish({ ...call, reused: structuredClone(reused) } satisfies ObservedReuse);
  }

  // The observer of a registry publishes its tasks, and without a pid nothing was started.
  #ended(result: BashResult): void {
    if (result.pid === 0 || this.#kind === 'task') return;
    this.started(result.pid);
    if (result.status === 'timed-out') this.kill('timeout');
    if (!channels.exit.hasSubscribers) return;
    const { status, exitCode, signal, durationMs, timeoutMs, usage, survivors, confinement, notes } = result;
    const taskId = result.background?.id ?? null;
    const end = { status, exitCode, signal, durationMs, timeoutMs, ...limitOf(result), taskId };
    const { runId, receipt, undo, evidence, view } = result;
    const record = { runId, receipt, undo, evidence, tokens: view?.tokens ?? null };
    // Copies: the caller may change its result.
    channels.exit.publish(
      structuredClone({ ...this.#observed(), ...end, usage, survivors, confinement, ...record, notes }),
    );
  }

  #observed(): Observed {
    return { id: this.#id, kind: this.#kind, pid: this.#pid, target: this.#target };
  }

  #publish(event: () => void): void {
    if (this.#pid === 0) this.#early.push(event);
    else event();
  }
}

/** The openings of the notes about a process that waits. */
const WAITS = ['waiting for input that nobody gives', 'waiting for a reader', 'stopped', 'perhaps waiting'];

/** Returns the limit that a run has reached, and what the run waited for then. */
function limitOf({ status, notes }: BashResult): Pick<ObservedExit, 'limit' | 'waitedFor'> {
  if (status !== 'timed-out' && status !== 'backgrounded') return { limit: null, waitedFor: null };
  const silent = notes.some((note) => note.startsWith('silence: '));
  const waitedFor = notes.find((note) => WAITS.some((opening) => note.startsWith(opening))) ?? null;
  return { limit: silent ? 'silence' : 'time', waitedFor };
}
