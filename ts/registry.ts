import type { BackgroundCheck, BackgroundTask, NativeRegistryOptions } from '../native.cjs';
import { settled, theBridge } from './bridge';
import { homedir, isAbsolute, join, resolve } from './builtins';
import { BashError } from './errors';
import { type Handle, handleOf, keepHandle, tasksOf } from './handle';
import { loadNative } from './native';
import { channels } from './observe/channels';
import { Observer } from './observe/observer';
import { checkOptions } from './options';
import { type ExitListener, type OutputListener, RegistryListeners } from './registry-listeners';
import { checkCursor, checkRegistryOptions, checkWaitOptions, nameOf, toNativeWait } from './registry-options';
import { folder, toNative } from './request';
import type { BackgroundRegistryOptions, BackgroundWaitOptions, BashOptions } from './types';

/**
 * Commands that run in the background: starts them, reads what they write, waits for them and ends them.
 *
 * With `dir`, tasks and their logs outlive this process, and any process that opens the same folder sees and ends them.
 * Without it they end with `close()` or with this process, however that comes about. A running task never keeps Node
 * alive; a call that has not settled does. A task is named by its id or its pid: `ERR_BASH_UNKNOWN_TASK` for one that
 * the registry does not have. After `close()` every call is answered with `ERR_BASH_CLOSED`.
 */
export class BackgroundRegistry {
  readonly #handle: Handle;
  readonly #listeners: RegistryListeners;
  readonly #temporary: boolean;
  #closing: Promise<void> | undefined;

  /**
   * Opens the folder, or makes it, and removes what is older than `retentionMs` in it.
   *
   * Throws a `BashError`: `ERR_BASH_INVALID_ARG` for options of a wrong type or out of range, or the reason why the
   * folder cannot be used. It is the only one of the asynchronous calls here that throws.
   */
  constructor(options: BackgroundRegistryOptions = {}) {
    checkRegistryOptions(options);
    const native = new (loadNative().NativeRegistry)(theBridge(), toNativeOptions(options));
    const failure = native.failure();
    if (failure) throw new BashError(failure.code, failure.message, failure.errno);
    this.#temporary = options.dir === undefined;
    this.#listeners = new RegistryListeners(native);
    this.#handle = { native, listeners: this.#listeners, closed: false };
    keepHandle(this, this.#handle);
  }

  /**
   * Starts a command and resolves once its shell runs. Its limit is 24 h, unless `timeoutMs` is given. `signal` aborts
   * the start only, which then rejects with `ABORT_ERR`. `mode`, `onTimeout`, `registry`, `onOutput`, `onSnapshot`
   * and `onPrompt` have no effect here: `on('output')` hears a task. Rejects as `bash()` does, and with `ERR_BASH_TOO_MANY_TASKS` when
   * `maxTasks` run already.
   */
  async start(command: string, options: BashOptions = {}): Promise<BackgroundTask> {
    const { native } = this.#open();
    checkOptions(command, options);
    const { mode, onTimeout, registry, onOutput, onSnapshot, onPrompt, snapshotIntervalMs, ...rest } = options;
    const observer = Observer.of('task', command, options, () => folder(options.cwd));
    const tasks = tasksOf(this);
    const request = toNative(command, rest);
    try {
      const task = await settled<BackgroundTask>({
        ask: () => native.start(...request),
        answer: (event) => event.task,
        signal: options.signal,
        abort: (_, id) => native.abort(id),
      });
      if (observer) tasks?.started(task);
      return task;
    } catch (error) {
      if (error instanceof BashError) observer?.refused(error);
      throw error;
    }
  }

  /**
   * All tasks as they are now, those of other processes on the same folder too; ended ones until they are older than
   * `retentionMs`. Throws `ERR_BASH_CLOSED` after `close()`.
   */
  list(): BackgroundTask[] {
    return this.#open().native.list() ?? [];
  }

  /**
   * What a task has written since the last check or wait of this registry, or from byte `cursor` of its log on, which
   * leaves the registry's own place as it is.
   */
  async check(task: number | string, options: { cursor?: number | undefined } = {}): Promise<BackgroundCheck> {
    const { native } = this.#open();
    const name = nameOf(task);
    const cursor = checkCursor(options);
    return settled<BackgroundCheck>({ ask: () => native.check(name, cursor), answer: ({ check }) => check });
  }

  /**
   * Resolves with what is new when the task has ended, when its unread output matches `pattern`, when `port` accepts a
   * connection on this machine, after `timeoutMs`, or when `signal` is aborted: whichever is first. `matched` tells
   * whether it was the pattern or the port. It reads from the registry's own place and moves it.
   */
  async wait(task: number | string, options: BackgroundWaitOptions = {}): Promise<BackgroundCheck> {
    const { native } = this.#open();
    const name = nameOf(task);
    checkWaitOptions(options);
    const wanted = toNativeWait(options);
    return settled<BackgroundCheck>({
      ask: () => native.wait(name, wanted),
      answer: ({ check }) => check,
      signal: options.signal,
      abort: (_, id) => native.abort(id),
    });
  }

  /**
   * Ends a task with all it started: SIGTERM, up to its grace, then SIGKILL. Resolves with the rest of its output once
   * nothing of it is left. One that has ended already is left alone and answered the same way.
   */
  async kill(task: number | string): Promise<BackgroundCheck> {
    const { native } = this.#open();
    const name = nameOf(task);
    this.#tellKill('kill', ({ id, pid }) => id === name || String(pid) === name);
    return settled<BackgroundCheck>({ ask: () => native.kill(name), answer: ({ check }) => check });
  }

  /** Ends all tasks that run, at once; rejects, after all were tried, when one could not be ended. */
  async killAll(): Promise<BackgroundCheck[]> {
    const running = this.list().filter(({ state }) => state === 'running');
    const ended = await Promise.allSettled(running.map(({ id }) => this.kill(id)));
    return ended.map((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value;
    });
  }

  /**
   * `'exit'`: a task has ended, or is lost. `'output'`: a task has written this text, in order; the next text of a task
   * comes after what the listeners returned has settled. A listener that throws or rejects disturbs neither the others
   * nor the process: its first failure is a warning of the process (`process.on('warning')`, code
   * `AGENT_BASH_LISTENER`), and it goes on being called. The same function counts once. Listeners do not keep Node alive.
   */
  on(event: 'exit', listener: (task: BackgroundTask) => void): void;
  on(event: 'output', listener: (task: BackgroundTask, text: string) => void): void;
  on(event: 'exit' | 'output', listener: ExitListener | OutputListener): void {
    this.#open();
    this.#listeners.add(event, listener);
  }

  /** Takes a listener away; one that is not there is none the worse. */
  off(event: 'exit' | 'output', listener: (...args: never[]) => void): void {
    this.#listeners.remove(event, listener as ExitListener);
  }

  /** What went wrong with files of the folder, a line each: a damaged state file costs only its own task. */
  get notes(): string[] {
    return this.#handle.native.notes();
  }

  /**
   * Ends the tasks of a registry without `dir` and removes their files; lets go of those of one with `dir`, which go on.
   * May be called again, and resolves when that is done.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { native } = this.#handle;
    if (this.#temporary) this.#tellKill('close', () => true);
    this.#handle.closed = true;
    try {
      await settled<boolean>({ ask: () => native.close(), answer: ({ closed }) => closed });
    } finally {
      // Those who listen hear how their tasks ended.
      this.#listeners.clear();
    }
  }

  #tellKill(reason: 'kill' | 'close', which: (task: BackgroundTask) => boolean): void {
    if (!channels.kill.hasSubscribers) return;
    for (const task of this.#handle.native.list() ?? []) {
      if (task.state === 'running' && which(task)) this.#listeners.observer.kill(task, reason);
    }
  }

  #open(): Handle {
    if (this.#handle.closed) throw new BashError('ERR_BASH_CLOSED', 'the registry is closed');
    return this.#handle;
  }
}

const defaults = new Map<string, BackgroundRegistry>();

/**
 * The registry of the user's own folder, `$XDG_STATE_HOME/agent-bash`, else `~/.local/state/agent-bash`, as `process.env`
 * has it at the call: one for each thread and folder, made at the first call and made again after it was closed. Its
 * tasks outlive this process; `npx agent-bash` shows them. Throws as the constructor does, and `ERR_BASH_UNSUPPORTED`
 * for a user without a home folder.
 */
export function defaultRegistry(): BackgroundRegistry {
  const dir = defaultFolder();
  const known = defaults.get(dir);
  if (known && !handleOf(known)?.closed) return known;
  const made = new BackgroundRegistry({ dir });
  defaults.set(dir, made);
  return made;
}

function defaultFolder(): string {
  const state = process.env.XDG_STATE_HOME;
  // The specification has relative ones ignored.
  if (state && isAbsolute(state)) return join(state, 'agent-bash');
  let home: string;
  try {
    home = homedir();
  } catch {
    home = '';
  }
  if (!isAbsolute(home)) {
    throw new BashError('ERR_BASH_UNSUPPORTED', 'there is no home folder for background tasks: set XDG_STATE_HOME');
  }
  return join(home, '.local', 'state', 'agent-bash');
}

function toNativeOptions({ dir, maxTasks, maxLogBytes, retentionMs }: BackgroundRegistryOptions) {
  const options: NativeRegistryOptions = { temp: process.env.TMPDIR || '/tmp' };
  if (dir !== undefined) options.dir = resolve(dir);
  if (maxTasks !== undefined) options.maxTasks = maxTasks;
  if (maxLogBytes !== undefined) options.maxLogBytes = maxLogBytes;
  if (retentionMs !== undefined) options.retentionMs = retentionMs;
  return options;
}
