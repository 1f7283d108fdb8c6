import {
  type BackgroundCheck,
  type BackgroundRegistry,
  type BackgroundTask,
  BashError,
  type BashResult,
  bash,
  defaultRegistry,
  type Target,
  type UndoRunOptions,
  undo,
  undoPoints,
} from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { withoutLinks } from '../../core/paths.ts';
import { OWNER, type Owned } from '../../core/world.ts';
import { isSandboxed } from '../executor.ts';
import { offersUndo } from '../options.ts';
import { LONGEST_LIMIT_MS } from '../schema.ts';
import { toolFolder } from '../setup.ts';
import { WAIT_MS } from '../terminal/schema.ts';
import type {
  BashToolCheck,
  BashToolError,
  BashToolInput,
  BashToolOptions,
  BashToolOutput,
  BashToolUndone,
  BashToolWait,
} from '../types.ts';
import { withGrants } from './access.ts';
import { MANAGE_BY_INPUT } from './format.ts';
import { timeLimit } from './validate.ts';

/** The model's knowledge about the tasks of one registry, through the tool and through notices. */
export class TaskKnowledge {
  /** Whether `backgroundNotices` announces exits to the model. */
  notified = false;
  readonly #ended = new Set<string>();
  readonly #cursors = new Map<string, number>();

  /** Records that the model reads a check. */
  check({ task, cursor }: BackgroundCheck): void {
    if (task.state === 'running') this.#cursors.set(task.id, cursor);
    else this.end(task.id);
  }

  /** Records that the model knows of a task's exit. */
  end(id: string): void {
    this.#ended.add(id);
    this.#cursors.delete(id);
  }

  /** Returns whether the model knows that a task has exited. */
  knowsEnd(id: string): boolean {
    return this.#ended.has(id);
  }

  /** Returns how far the model has read a task's log, in bytes, or `undefined` if it never checked the task. */
  cursor(id: string): number | undefined {
    return this.#cursors.get(id);
  }

  /** Forgets tasks that the registry no longer lists. */
  keep(tasks: BackgroundTask[]): void {
    const ids = new Set(tasks.map(({ id }) => id));
    for (const known of [this.#ended, this.#cursors]) {
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    }
  }
}

const registries = new WeakMap<BackgroundRegistry, TaskKnowledge>();
let anyNotified = false;

/** Marks that exits in this registry are announced to the model. */
export function notify(registry: BackgroundRegistry): TaskKnowledge {
  const knowledge = knowledgeOf(registry);
  knowledge.notified = true;
  anyNotified = true;
  return knowledge;
}

/**
 * Returns whether exits are announced. Takes a function so that a registry is only opened when some registry is
 * announced.
 */
export function isAnnounced(registry: () => BackgroundRegistry): boolean {
  try {
    return anyNotified && knowledgeOf(registry()).notified;
  } catch {
    return false;
  }
}

/** Returns the model's knowledge of this registry's tasks. */
export function knowledgeOf(registry: BackgroundRegistry): TaskKnowledge {
  const known = registries.get(registry);
  if (known) return known;
  const knowledge = new TaskKnowledge();
  registries.set(registry, knowledge);
  return knowledge;
}

/** A question about a task, in place of a command. */
export type TaskQuestion =
  | { action: 'check' | 'kill'; pid: number }
  | { action: 'wait'; pid: number; wait: Omit<BashToolWait, 'end'> };

/** Returns the question of a valid input, or `null` for a command. */
export function taskQuestion(input: BashToolInput): TaskQuestion | null {
  const { check_pid, kill_pid, wait_pid, port = null, pattern = null, timeout_ms } = input;
  if (check_pid != null) return { action: 'check', pid: check_pid };
  if (kill_pid != null) return { action: 'kill', pid: kill_pid };
  if (wait_pid == null) return null;
  const { timeoutMs = WAIT_MS } = timeLimit(timeout_ms, LONGEST_LIMIT_MS);
  return { action: 'wait', pid: wait_pid, wait: { port, pattern, timeoutMs } };
}

/** Returns the registry that holds a call's tasks: the given one, or the user's default, here or on the target. */
export function registryOf({ registry, target, affinity }: BashToolOptions): BackgroundRegistry {
  return registry ?? defaultRegistry(placeOfCalls(target, affinity));
}

/** Returns the machine where the calls of a tool run. Throws if a pool has given them no place. */
export function placeOfCalls(target: BashToolOptions['target'], affinity: string | undefined): Target | undefined {
  const place = target && innerOf(bash).placeOf(target, affinity);
  if (place !== null) return place as Target | undefined;
  throw new BashError('ERR_BASH_UNKNOWN_TASK', 'there is no such process: nothing of this conversation runs anywhere');
}

/** Returns a note for each survivor that became a task, because the model can check and kill it. */
export function adoptedNotes({ survivors }: BashResult, { registry }: { registry?: BackgroundRegistry | undefined }) {
  const ids = new Set(survivors.flatMap(({ taskId }) => taskId ?? []));
  if (registry === undefined || ids.size === 0) return [];
  const tasks = registry.list().filter(({ id }) => ids.has(id));
  return tasks.map(
    ({ pid, logPath }) =>
      `left running in the background: process ${pid}; ${MANAGE_BY_INPUT} to manage it; its further output: ${logPath}`,
  );
}

/**
 * Checks, kills or awaits a task. A call aborted earlier does nothing and consumes no output. A call aborted during a
 * kill stops waiting, and the kill continues. A call aborted during a wait answers with the output so far.
 */
export async function answerTask(
  question: TaskQuestion,
  options: BashToolOptions,
  signal: AbortSignal | undefined,
): Promise<BashToolCheck | BashToolError> {
  const { action, pid } = question;
  if (signal?.aborted) return interrupted(`the call was interrupted before process ${pid} was looked at`);
  const registry = registryOf(options);
  const outcome =
    action === 'wait'
      ? await awaitTask(pid, question.wait, registry, signal)
      : action === 'check'
        ? await registry.check(pid)
        : await unlessAborted(registry.kill(pid), pid, signal);
  if ('task' in outcome) knowledgeOf(registry).check(outcome);
  return outcome;
}

async function awaitTask(
  pid: number,
  wait: Omit<BashToolWait, 'end'>,
  registry: BackgroundRegistry,
  signal: AbortSignal | undefined,
): Promise<BashToolCheck> {
  const { port, pattern, timeoutMs } = wait;
  const check = await registry.wait(pid, { port: port ?? undefined, pattern: pattern ?? undefined, timeoutMs, signal });
  const left = signal?.aborted ? 'aborted' : 'timed-out';
  const end = check.matched ? 'found' : check.task.state === 'running' ? left : 'ended';
  return { ...check, waited: { end, ...wait } };
}

async function unlessAborted(
  working: Promise<BackgroundCheck>,
  pid: number,
  signal: AbortSignal | undefined,
): Promise<BackgroundCheck | BashToolError> {
  if (signal === undefined) return await working;
  let stop = () => {};
  const aborted = new Promise<BashToolError>((resolve) => {
    stop = () => resolve(interrupted(`the call was interrupted; process ${pid} is still being ended`));
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([working, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function interrupted(error: string): BashToolError {
  return { error, code: 'ABORT_ERR' };
}

/** Most remembered runs of one tool or session. The oldest are dropped first. */
const MOST = 10_000;

/** The runs of each tool or session. Copies of an owner with another root share its `end`. */
const runs = new WeakMap<object, Set<string>>();

/** Remembers the run of an output, or its undo, as a run of the tool or session. */
export function rememberRun(options: BashToolOptions & Owned, output: BashToolOutput): void {
  const owner = options[OWNER];
  const id = 'undoId' in output ? output.undoId : 'runId' in output ? output.runId : null;
  if (owner === undefined || !id || !offersUndo(options)) return;
  const known = runs.get(owner.end) ?? new Set();
  runs.set(owner.end, known);
  known.add(id);
  const [oldest] = known;
  if (known.size > MOST && oldest !== undefined) known.delete(oldest);
}

/**
 * Undoes a run that a model names. The run must belong to this tool, or to a command that started in its directory,
 * because the store has the runs of every tool of the user. Rejects with `ERR_BASH_UNDO` otherwise, and with
 * `ERR_BASH_CONFINEMENT` if it would change what a command of this tool may not.
 */
export async function undoForModel(runId: string, options: BashToolOptions & Owned): Promise<BashToolUndone> {
  if (isSandboxed(options)) {
    throw new BashError('ERR_BASH_UNSUPPORTED', 'commands in a sandbox cannot be undone here: nothing was undone');
  }
  const { undo: given } = options;
  if (!offersUndo(options)) throw new BashError('ERR_BASH_UNSUPPORTED', 'the tool keeps nothing that could be undone');
  const target = placeOfCalls(options.target, options.affinity);
  const place = { target, ...(typeof given === 'object' && given.dir !== undefined && { dir: given.dir }) };
  const root = options[OWNER]?.root ?? toolFolder(options);
  const own = options[OWNER] && runs.get(options[OWNER].end)?.has(runId);
  if (!own) {
    const point = (await undoPoints(place)).find((each) => each.runId === runId);
    if (point !== undefined && !isWithin(point.cwd, root)) {
      throw new BashError('ERR_BASH_UNDO', `nothing was undone: run ${runId} is not one of this tool`);
    }
  }
  if (options.confine !== undefined && options.confine !== 'off')
    await checkUndo(runId, place, withGrants(options), root);
  const undone = await undo(runId, place);
  return { status: 'undone', exitCode: undone.conflicts.length > 0 ? 1 : 0, ...undone };
}

/** An undo runs in the host, which no confinement holds: each path is checked as a command's would be. */
async function checkUndo(
  runId: string,
  place: UndoRunOptions,
  options: BashToolOptions & Owned,
  root: string,
): Promise<void> {
  if (options.target !== undefined) {
    throw new BashError(
      'ERR_BASH_CONFINEMENT',
      'nothing was undone: what a confined tool changed on a target is for the host',
    );
  }
  const { checkAccess, reachOf } = innerOf(bash);
  const places = reachOf(options, root)?.write ?? [];
  const mayChange = (path: string) => {
    try {
      const { write } = checkAccess(options, root, { write: [path], network: [] });
      return write.length === 0 || places.some((place) => isWithin(path, place));
    } catch {
      return false;
    }
  };
  const { restored, removed } = await undo(runId, { ...place, dryRun: true });
  const outside = [...restored, ...removed].filter((path) => !mayChange(path));
  if (outside.length === 0) return;
  const named = outside.slice(0, 5).map((path) => JSON.stringify(path));
  const more = outside.length > named.length ? ` and ${outside.length - named.length} more` : '';
  throw new BashError(
    'ERR_BASH_CONFINEMENT',
    `nothing was undone: run ${runId} has changed ${named.join(', ')}${more}, which commands of this tool may not change. ` +
      'The host can undo it',
  );
}

function isWithin(path: string, root: string): boolean {
  const below = (parent: string) => path === parent || path.startsWith(parent === '/' ? parent : `${parent}/`);
  return below(root) || below(withoutLinks(root));
}
