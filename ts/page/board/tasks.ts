import { type BackgroundRegistry, type BackgroundTask, bash, defaultRegistry } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import type { EndState } from '../host/protocol.ts';
import { bareRun } from '../host/read.ts';
import { bareEnd } from '../host/read-end.ts';
import type { PageRun } from '../wire.ts';
import { type Board, idOfTask } from './board.ts';

/** Time in ms between two scans. */
const SCAN_MS = 2_000;
/** Time in ms that hosts have to report their tasks before the first scan. */
const FIRST_MS = 500;
/** The note of a registry on a task that runs on another machine or in another container. */
const ELSEWHERE = /^task (\S+): it runs elsewhere/;

/** Shows the tasks of the user's default directory that have outlived their host. */
export class OrphanedTasks {
  readonly #board: Board;
  readonly #open: () => BackgroundRegistry;
  #timer: NodeJS.Timeout | null = null;
  readonly #shown = new Set<string>();

  constructor(board: Board, open: () => BackgroundRegistry = defaultRegistry) {
    this.#board = board;
    this.#open = open;
  }

  start(): void {
    this.#timer ??= setTimeout(() => this.#again(), FIRST_MS);
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#shown.clear();
  }

  /** Shows running tasks that no host but `gone`, which has ended, reports, and the ends of tasks that were shown. */
  scan(gone?: string): void {
    const tasks = this.#list();
    if (!tasks) return;
    for (const task of tasks) {
      if (task.state === 'running') this.#show(task, gone);
      else if (this.#shown.delete(task.id)) this.#board.end(endOf(task));
    }
    const known = new Set(tasks.map(({ id }) => id));
    for (const id of this.#shown) {
      if (known.has(id)) continue;
      // Its files are gone, or name another machine now.
      this.#shown.delete(id);
      this.#board.end({ id: idOfTask(id), ...bareEnd('lost', Date.now()) });
    }
  }

  /** Terminates a task and its descendants. */
  async stopTask(taskId: string): Promise<void> {
    await this.#open().kill(taskId);
    this.scan();
  }

  /** Returns the path of a task's log; `null` for an unknown task. */
  log(taskId: string): string | null {
    return this.#list()?.find(({ id }) => id === taskId)?.logPath ?? null;
  }

  #again(): void {
    this.scan();
    this.#timer = setTimeout(() => this.#again(), SCAN_MS);
  }

  /**
   * Returns the tasks of this machine: those that run elsewhere have no process here that could be stopped. `null`: the
   * directory cannot be read, which `agent-bash ps` reports.
   */
  #list(): BackgroundTask[] | null {
    try {
      const registry = this.#open();
      const tasks = registry.list();
      const elsewhere = new Set(registry.notes.map((note) => ELSEWHERE.exec(note)?.[1]));
      return tasks.filter(({ id }) => !elsewhere.has(id));
    } catch {
      return null;
    }
  }

  #show(task: BackgroundTask, gone?: string): void {
    if (this.#shown.has(task.id) || this.#board.isReported(task.id, gone)) return;
    // The host of a new task is about to report it.
    if (gone === undefined && Date.now() - task.startedAt < SCAN_MS) return;
    this.#shown.add(task.id);
    this.#board.task(runOf(task));
  }
}

function runOf({ id, pid, command, cwd, startedAt }: BackgroundTask) {
  return {
    ...bareRun(),
    id: idOfTask(id),
    host: null,
    kind: 'task',
    command: innerOf(bash).redact(command),
    cwd,
    startedAt,
    pid,
    taskId: id,
  } satisfies Omit<PageRun, 'project' | 'tokens'>;
}

function endOf({ id, state, exitCode, signal, endedAt }: BackgroundTask) {
  const word: EndState = state === 'killed' ? 'signaled' : state === 'running' ? 'lost' : state;
  return { id: idOfTask(id), ...bareEnd(word, endedAt ?? Date.now()), exitCode, signal, taskId: id };
}
