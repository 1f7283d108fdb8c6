import type { BackgroundTask, NativeCheck } from '../../native.cjs';
import type { ConfineSetting } from '../confine/types.ts';
import type { StaleFile } from '../core/stale.ts';
import type { DraftHandle } from '../draft/types.ts';
import type { Evidence } from '../evidence/types.ts';
import type { Fleet } from '../fleet/types.ts';
import type { Target } from '../target/types.ts';

/** A task, its id, or its pid. */
export type TaskName = Pick<BackgroundTask, 'id'> | string | number;

/** A `BackgroundRegistry`, as the option `registry` of a command names it. Another object is refused. */
export interface TaskRegistry {
  /** Returns all tasks as they are now. */
  list(): BackgroundTask[];
  /** Ends the registry. */
  close(): Promise<void>;
}

/** How a `BackgroundRegistry` keeps its tasks. */
export interface BackgroundRegistryOptions {
  /**
   * The machine that runs the tasks, or a `TargetPool`, which chooses one at the first call. `dir` is a path there, and
   * relative ones begin in its directory.
   *
   * @default this machine
   * @example new BackgroundRegistry({ target, dir: '.tasks' });
   */
  target?: Target | Fleet | undefined;
  /**
   * With a pool: the registry is where calls with the same text run.
   *
   * @default a place of its own
   * @example new BackgroundRegistry({ target: pool, affinity: 'chat-7' });
   */
  affinity?: string | undefined;
  /**
   * The directory of tasks that outlive this process, made with mode 0700 if it is missing. A relative path is resolved
   * against `process.cwd()`.
   *
   * @default a temporary one, which is removed with `close()` or this process, and the tasks with it
   * @example new BackgroundRegistry({ dir: '/home/ann/.agent/tasks' });
   */
  dir?: string | undefined;
  /**
   * The most tasks that may run at once, a whole number of at least 1. At that number a start is refused with
   * `ERR_BASH_TOO_MANY_TASKS`, and a command that would move to the background at its limit is killed, with a note.
   *
   * @default 64
   * @example new BackgroundRegistry({ maxTasks: 4 });
   */
  maxTasks?: number | undefined;
  /**
   * The most that a log may hold, in bytes, a whole number of at least 1. Later output is dropped, with a note in the
   * log, and the task goes on.
   *
   * @default 1_073_741_824 (1 GiB)
   * @example new BackgroundRegistry({ maxLogBytes: 50 * 1024 ** 2 });
   */
  maxLogBytes?: number | undefined;
  /**
   * How long an ended task and its log are kept, in ms after its end, a whole number of at least 0.
   *
   * @default 604_800_000 (7 days)
   * @example new BackgroundRegistry({ retentionMs: 3_600_000 });
   */
  retentionMs?: number | undefined;
  /**
   * The reach of tasks that `start` starts, as in `bash()`, unless a task has its own `confine`. The root of the
   * profile is the directory of each task.
   *
   * @default 'off'
   * @example new BackgroundRegistry({ confine: 'workspace' });
   */
  confine?: ConfineSetting | undefined;
  /**
   * The draft of tasks that `start` starts, as in `bash()`, unless a task has its own `draft`. They have the
   * confinement of the draft.
   *
   * @default none
   * @example new BackgroundRegistry({ draft: await openDraft() });
   */
  draft?: DraftHandle | undefined;
}

/** One check of a task. */
export interface BackgroundCheck extends Omit<NativeCheck, 'evidence'> {
  /**
   * What the parts of the task's command returned. `null` while the task runs, without the option `evidence`, and if
   * the process that started the task is gone or is another one.
   */
  evidence: Evidence | null;
  /**
   * The files of the option `knownFiles` that the task changed, by its receipt, at most 100. `null` while the task
   * runs. `[]` without the option or without a receipt, and if another process started the task.
   */
  stale: StaleFile[] | null;
}

/** Options of `BackgroundRegistry.check`. */
export interface BackgroundCheckOptions {
  /**
   * An offset in the log, in bytes, a whole number of at least 0. The registry's own position does not change.
   *
   * @default the registry's own place, which the check moves
   * @example await registry.check(task.id, { cursor: 0 });
   */
  cursor?: number | undefined;
}

/** The events that end `BackgroundRegistry.wait`, in addition to the end of the task. */
export interface BackgroundWaitOptions {
  /**
   * How long to wait, in ms, a whole number of at least 0.
   *
   * @default no limit
   * @example await registry.wait(task.id, { timeoutMs: 10_000 });
   */
  timeoutMs?: number | undefined;
  /**
   * Text in the unread output of the task, or in its output from now on. A string is the source of a regular
   * expression; the flags `g` and `y` of a `RegExp` have no meaning. A pattern that the engine does not support is
   * `ERR_BASH_INVALID_ARG`.
   *
   * @default none
   * @example await registry.wait(task.id, { pattern: /listening on port \d+/ });
   */
  pattern?: string | RegExp | undefined;
  /**
   * A TCP port of this machine, 1 to 65,535, that accepts a connection.
   *
   * @default none
   * @example await registry.wait(task.id, { port: 3000 });
   */
  port?: number | undefined;
  /**
   * Ends the wait, which then resolves with the output so far. The task goes on.
   *
   * @default none
   * @example await registry.wait(task.id, { signal: controller.signal });
   */
  signal?: AbortSignal | undefined;
}
