import type { BackgroundTask, NativeRegistry, NativeRegistryOptions } from '../../native.cjs';
import { callSecrets } from '../confine/native.ts';
import { newOwner } from '../confine/owner.ts';
import type { ConfineSetting } from '../confine/types.ts';
import { homedir, isAbsolute, join } from '../core/builtins.ts';
import { type EventOf, settled, theBridge } from '../core/calls.ts';
import { invalid } from '../core/checks.ts';
import { loadNative } from '../core/native.ts';
import { keepKnown, knownOf, staleOf } from '../core/stale.ts';
import { OWNER, type Owned, type Owner } from '../core/world.ts';
import { type DraftParts, draftOf } from '../draft/handle.ts';
import type { DraftHandle } from '../draft/types.ts';
import { BashError, type BashErrorCode } from '../errors.ts';
import { evidenceOf } from '../evidence/json.ts';
import { type PlacedCall, placeName, poolOf } from '../fleet/handle.ts';
import { onPlace } from '../fleet/placed.ts';
import { channels } from '../observe/channels.ts';
import { Observer } from '../observe/observer.ts';
import { checkOptions, checkPlace } from '../options.ts';
import { directoryOf, toNative } from '../request.ts';
import { pathOn, TARGET, thereOf } from '../target/handle.ts';
import type { Target } from '../target/types.ts';
import type { CommandOptions } from '../types.ts';
import { exitOf, type Handle, handleOf, keepHandle, tasksOf } from './handle.ts';
import { RegistryListeners, type TaskExitListener, type TaskOutputListener } from './listeners.ts';
import { checkCheckOptions, checkRegistryOptions, checkWaitOptions, nameOf, toNativeWait } from './options.ts';
import type {
  BackgroundCheck,
  BackgroundCheckOptions,
  BackgroundRegistryOptions,
  BackgroundWaitOptions,
  TaskName,
} from './types.ts';

/**
 * Commands that run in the background: starts them, reads their output, waits for them and ends them.
 *
 * With `dir`, tasks and their logs outlive this process, and any process that opens the same directory lists and ends
 * them. Without it they end with `close()`, or with this process for any reason. A running task never keeps Node alive,
 * but a pending call does. A task is named by itself, its id or its pid: a name that the registry does not have is
 * `ERR_BASH_UNKNOWN_TASK`. After `close()` every call fails with `ERR_BASH_CLOSED`.
 */
export class BackgroundRegistry {
  readonly #handle: { -readonly [Name in keyof Handle]: Handle[Name] };
  readonly #listeners = new RegistryListeners();
  /** Where the registry of the core is. */
  #at: BackgroundRegistryOptions['target'];
  readonly #temporary: boolean;
  readonly #confine: ConfineSetting | undefined;
  readonly #draft: DraftHandle | undefined;
  readonly #owner: Owner;
  #closing: Promise<void> | undefined;
  /** Calls of `kill` that have not ended. */
  readonly #kills = new Set<Promise<BackgroundCheck>>();

  /**
   * Opens the directory, or makes it, and removes tasks that ended more than `retentionMs` ago.
   *
   * Throws a `BashError`: `ERR_BASH_INVALID_ARG` for an option that does not exist, has the wrong type or is out of
   * range, or the reason why the directory cannot be used. With a `target` each call rejects with that reason.
   *
   * @example const registry = new BackgroundRegistry({ dir: '/srv/project/.tasks' });
   */
  constructor(options: BackgroundRegistryOptions = {}) {
    checkRegistryOptions(options);
    this.#temporary = options.dir === undefined;
    this.#confine = options.confine;
    this.#draft = options.draft;
    this.#owner = newOwner('/');
    const { target } = options;
    const isPooled = poolOf(target) !== undefined;
    const affinity = isPooled ? (options.affinity ?? {}) : undefined;
    const bind = (there: Target) => this.#bind({ ...options, target: there });
    this.#handle = { native: null, listeners: this.#listeners, target, affinity, closed: false, bind };
    if (!isPooled) this.#bind(options);
    keepHandle(this, this.#handle);
  }

  /** Opens the registry of the core on the target of the options, if it is not open there. */
  #bind(options: BackgroundRegistryOptions): void {
    if (this.#handle.native && this.#at === options.target) return;
    const native = new (loadNative().NativeRegistry)(theBridge(), toNativeOptions(options));
    const failure = native.failure();
    if (failure) throw new BashError(failure.code as BashErrorCode, failure.message, failure.errno);
    const left = this.#handle.native;
    this.#at = options.target;
    this.#handle.native = native;
    this.#listeners.bind(native);
    // Its tasks are gone with their place, or go on in their directory.
    if (left) settled({ begin: () => left.close(), kind: 'done', answer: () => undefined }).catch(() => {});
  }

  /** Returns the registry of the core; `null` if a pool has to say where it is. */
  #own(): NativeRegistry | null {
    const { target, native } = this.#open();
    return poolOf(target) ? null : native;
  }

  /** Returns the registry of the core where a pool has it now. */
  async #placed(): Promise<NativeRegistry> {
    const { target, affinity } = this.#open();
    const call = poolOf(target)?.call(affinity) as PlacedCall;
    return onPlace(call, async (there) => {
      this.#handle.bind(there);
      return this.#handle.native as NativeRegistry;
    });
  }

  /**
   * Starts a command and resolves once its shell runs. The time limit is 24 h, unless `timeoutMs` is given. `signal`
   * aborts the start only, which then rejects with `ABORT_ERR`. `mode`, `onTimeout`, `registry`, `onOutput`,
   * `onSnapshot` and `onPrompt` have no effect here: `on('output')` receives the output of a task. Rejects as `bash()`
   * does, and with `ERR_BASH_TOO_MANY_TASKS` if `maxTasks` run already.
   */
  async start(command: string, options: CommandOptions = {}): Promise<BackgroundTask> {
    const { target, affinity } = this.#open();
    checkOptions('BackgroundRegistry.start', command, options);
    if (options.target !== undefined && options.target !== target) {
      throw invalid('target', placeName(options.target), "the registry's own, which is that of its constructor");
    }
    const { registry, affinity: asked, ...own } = options;
    checkPlace({ ...own, target });
    const call = poolOf(target)?.call(affinity, options.signal);
    if (!call) return this.#start(command, options, target as Target | undefined);
    return onPlace(call, async (there) => {
      this.#handle.bind(there);
      const task = await this.#start(command, options, there);
      call.holdUntil(exitOf(this, task));
      return task;
    });
  }

  async #start(command: string, options: CommandOptions, target: Target | undefined): Promise<BackgroundTask> {
    const native = this.#handle.native as NativeRegistry;
    const { mode, onTimeout, registry, onOutput, onSnapshot, onPrompt, snapshotIntervalMs, ...own } = options;
    const rest = { draft: this.#draft, ...own, ...(target && { target }) };
    const draft = draftOf(rest.draft);
    const calls = callSecrets(this.#confined(rest));
    if (calls) await calls;
    const observer = Observer.of('task', command, rest, () => directoryOf(rest));
    const tasks = tasksOf(this);
    const started = settled({
      begin: () => native.start(toNative(command, this.#confined(observer?.withVariables(rest) ?? rest))),
      kind: 'task',
      answer: ({ task }) => {
        keepKnown(this, task, options.knownFiles);
        return task;
      },
      signal: options.signal,
      abort: (_, id) => native.abort(id),
      target: target?.id,
    });
    const task = observer ? observer.starts(started, tasks) : started;
    return draft ? task.then((task) => this.#endWith(draft, task)) : task;
  }

  /**
   * Returns all tasks as they are now, including tasks of other processes in the same directory. Ended tasks stay for
   * `retentionMs`. With a `target` they are as it has told them last; see `refresh`. Throws `ERR_BASH_CLOSED` after
   * `close()`.
   */
  list(): BackgroundTask[] {
    return tasksIn(this.#open());
  }

  /**
   * Resolves with all tasks as they are now, as `list` returns them. Asks the target, if there is one. Rejects with
   * `ERR_BASH_CLOSED` after `close()`.
   *
   * @example const running = (await registry.refresh()).filter(({ state }) => state === 'running');
   */
  async refresh(): Promise<BackgroundTask[]> {
    const native = this.#own() ?? (await this.#placed());
    return settled({
      begin: () => native.refresh(),
      kind: 'told',
      answer: ({ answer }) => JSON.parse(answer) as BackgroundTask[],
      target: thereOf(this.#at)?.id,
    });
  }

  /**
   * Resolves with the output of a task since the last check or wait of this registry, or from byte `cursor` of its log
   * on. A `cursor` leaves the registry's own place as it is.
   */
  async check(task: TaskName, options: BackgroundCheckOptions = {}): Promise<BackgroundCheck> {
    const native = this.#own() ?? (await this.#placed());
    const name = nameOf(task);
    checkCheckOptions(options);
    const { cursor } = options;
    return settled({
      begin: () => native.check(name, cursor),
      kind: 'check',
      answer: (event) => checkOf(event, this),
    });
  }

  /**
   * Resolves with the new output at the first of these events: the task has ended, its unread output matches `pattern`,
   * `port` accepts a connection on this machine, `timeoutMs` have passed, `signal` is aborted. `matched` is true for
   * the pattern and the port. The output is read from the registry's own place, which moves on.
   */
  async wait(task: TaskName, options: BackgroundWaitOptions = {}): Promise<BackgroundCheck> {
    const native = this.#own() ?? (await this.#placed());
    const name = nameOf(task);
    checkWaitOptions(options);
    const wanted = toNativeWait(options);
    return settled({
      begin: () => native.wait(name, wanted),
      kind: 'check',
      answer: (event) => checkOf(event, this),
      signal: options.signal,
      abort: (_, id) => native.abort(id),
    });
  }

  /**
   * Ends a task with all that it started: SIGTERM, its grace, then SIGKILL. Resolves with the rest of its output once
   * no process of it is left. A task that has ended is left alone, and its state and output are returned. Rejects with
   * `ERR_BASH_UNSUPPORTED` for a task that runs on another machine or in another container.
   */
  kill(task: TaskName): Promise<BackgroundCheck> {
    const killed = this.#kill(task);
    this.#kills.add(killed);
    return killed.finally(() => this.#kills.delete(killed));
  }

  /**
   * Ends all running tasks at once, except those on other machines and in other containers. Rejects, after all were
   * tried, if one could not be ended.
   */
  async killAll(): Promise<BackgroundCheck[]> {
    const running = this.list().filter(({ state }) => state === 'running');
    const ended = await Promise.allSettled(running.map(({ id }) => this.kill(id)));
    return ended.flatMap((one) => {
      if (one.status === 'fulfilled') return [one.value];
      if (NOT_RUNNING_HERE.has((one.reason as BashError).code)) return [];
      throw one.reason;
    });
  }

  /**
   * `'exit'`: a task has ended, or is lost. `'output'`: a task has written this text, in order. The next text of a task
   * follows once the promises of its listeners have settled.
   *
   * A listener that throws or rejects does not disturb the others or the process. Its first failure is a warning of the
   * process (`process.on('warning')`, code `AGENT_BASH_LISTENER`), and it is still called. A function counts once.
   * Listeners do not keep Node alive. Throws `ERR_BASH_INVALID_ARG` for another event or a listener that is not a
   * function, and `ERR_BASH_CLOSED` after `close()`.
   *
   * @example registry.on('exit', ({ pid, state }) => console.log(pid, state));
   */
  on(event: 'exit', listener: TaskExitListener): this;
  on(event: 'output', listener: TaskOutputListener): this;
  on(event: 'exit' | 'output', listener: TaskExitListener | TaskOutputListener): this {
    this.#open();
    this.#listeners.add(event, listener);
    return this;
  }

  /** Removes a listener. Does nothing if the listener was never added. */
  off(event: 'exit', listener: TaskExitListener): this;
  off(event: 'output', listener: TaskOutputListener): this;
  off(event: 'exit' | 'output', listener: TaskExitListener | TaskOutputListener): this {
    this.#listeners.remove(event, listener);
    return this;
  }

  /** Problems with files of the directory, one per line. A damaged state file loses only its own task. */
  get notes(): string[] {
    return this.#handle.native?.notes() ?? [];
  }

  /**
   * Ends the tasks of a registry without `dir` and removes their files. Tasks of a registry with `dir` go on, except
   * those whose `kill` was called before. May be called again, and resolves when all is done.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Adds the confinement of the registry, and the owner of its world. A registry has no directory of its own, so the
   * root is the task's root.
   */
  #confined(options: CommandOptions & Owned): CommandOptions & Owned {
    const { confine = this.#confine } = options;
    const owner = options[OWNER] ?? { ...this.#owner, root: directoryOf(options), joins: !this.#temporary };
    return { ...options, ...(confine !== undefined && { confine }), [OWNER]: owner };
  }

  /** Lets a task end with its draft. */
  #endWith(draft: DraftParts, task: BackgroundTask): BackgroundTask {
    draft.tasks.add(() => this.kill(task));
    return task;
  }

  async #kill(task: TaskName): Promise<BackgroundCheck> {
    const native = this.#own() ?? (await this.#placed());
    const name = nameOf(task);
    this.#publishKill('kill', ({ id, pid }) => id === name || String(pid) === name);
    return settled({ begin: () => native.kill(name), kind: 'check', answer: (event) => checkOf(event, this) });
  }

  async #close(): Promise<void> {
    const { native } = this.#handle;
    if (this.#temporary) this.#publishKill('close', () => true);
    this.#handle.closed = true;
    if (this.#kills.size > 0) await Promise.allSettled(this.#kills);
    try {
      if (native) await settled({ begin: () => native.close(), kind: 'done', answer: () => undefined });
    } finally {
      // Listeners receive the end of their tasks first.
      this.#listeners.clear();
      this.#owner.end();
      poolOf(this.#handle.target)?.forget(this.#handle.affinity);
    }
  }

  #publishKill(reason: 'kill' | 'close', which: (task: BackgroundTask) => boolean): void {
    if (!channels.kill.hasSubscribers) return;
    for (const task of tasksIn(this.#handle)) {
      if (task.state === 'running' && which(task)) this.#listeners.observer.kill(task, reason);
    }
  }

  #open(): Handle {
    if (this.#handle.closed) throw new BashError('ERR_BASH_CLOSED', 'the registry is closed');
    return this.#handle;
  }
}

function checkOf({ check }: EventOf<'check'>, registry: BackgroundRegistry): BackgroundCheck {
  const { stale, notes } = staleOf(check.receipt, knownOf(registry, check.task));
  // A check has no notes.
  for (const note of notes) process.emitWarning(note, { code: 'AGENT_BASH_LISTENER' });
  return { ...check, evidence: evidenceOf(check.evidence), stale: check.task.state === 'running' ? null : stale };
}

/** Returns the tasks of a registry. None after it was closed. */
function tasksIn({ native }: Handle): BackgroundTask[] {
  return JSON.parse(native?.list() ?? '[]') as BackgroundTask[];
}

/**
 * The codes of the errors with which `kill` rejects for a task of another machine or container, and for a task that has
 * ended and was removed in the meantime.
 */
const NOT_RUNNING_HERE = new Set<string>(['ERR_BASH_UNSUPPORTED', 'ERR_BASH_UNKNOWN_TASK']);

const defaults = new Map<string, BackgroundRegistry>();
const defaultsOn = new WeakMap<Target, BackgroundRegistry>();

/**
 * Returns the registry of the user's own directory, `$XDG_STATE_HOME/agent-bash`, else `~/.local/state/agent-bash`, by
 * `process.env` at the call, or by the login environment of a target. Each thread has one registry for each directory,
 * made at the first call and again after it was closed. Its tasks outlive this process, and `npx agent-bash` shows
 * them. Throws as the constructor does, and `ERR_BASH_UNSUPPORTED` for a user without a home directory.
 */
export function defaultRegistry(target?: Target): BackgroundRegistry {
  if (target !== undefined) return defaultRegistryOn(target);
  const dir = defaultDirectory();
  const known = defaults.get(dir);
  if (known && !handleOf(known)?.closed) return known;
  const made = new BackgroundRegistry({ dir });
  defaults.set(dir, made);
  return made;
}

function defaultRegistryOn(target: Target): BackgroundRegistry {
  TARGET(target, 'target');
  const known = defaultsOn.get(target);
  if (known && !handleOf(known)?.closed) return known;
  const made = new BackgroundRegistry({ target, dir: registryDirectory(target) });
  defaultsOn.set(target, made);
  return made;
}

/** Returns the directory of the user's own registry on a target. */
export function registryDirectory(target: Target): string {
  const dir = thereOf(target)?.native.ownDirectory() ?? null;
  if (dir !== null) return dir;
  throw new BashError('ERR_BASH_UNSUPPORTED', `there is no home directory for background tasks on ${target.id}`);
}

function defaultDirectory(): string {
  const state = process.env.XDG_STATE_HOME;
  // By the specification, a relative path is ignored.
  if (state && isAbsolute(state)) return join(state, 'agent-bash');
  let home: string;
  try {
    home = homedir();
  } catch {
    home = '';
  }
  if (!isAbsolute(home)) {
    throw new BashError('ERR_BASH_UNSUPPORTED', 'there is no home directory for background tasks: set XDG_STATE_HOME');
  }
  return join(home, '.local', 'state', 'agent-bash');
}

function toNativeOptions({ target, dir, maxTasks, maxLogBytes, retentionMs }: BackgroundRegistryOptions) {
  const options: NativeRegistryOptions = { temp: process.env.TMPDIR || '/tmp' };
  const there = thereOf(target);
  if (there) options.target = there.native.number;
  if (dir !== undefined) options.dir = pathOn(target)(dir);
  if (maxTasks !== undefined) options.maxTasks = maxTasks;
  if (maxLogBytes !== undefined) options.maxLogBytes = maxLogBytes;
  if (retentionMs !== undefined) options.retentionMs = retentionMs;
  return options;
}
