import { type BackgroundRegistry, type BackgroundTask, bash, defaultRegistry } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import type { EndState } from '../host/protocol.ts';
import { bareEnd } from '../host/read-end.ts';
import type { PageRun } from '../wire.ts';
import { type Board, idOfTask } from './board.ts';

/** Time in ms between two scans. */
const SCAN_MS = 2_000;
/** Time in ms in which hosts report their tasks by themselves. */
const FIRST_MS = 500;

/** The tasks of the user's own directory, which go on when their host has ended. */
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

  /** Shows the tasks that run, and the ends of those that were shown. */
  scan(): void {
    for (const task of this.#list()) {
      if (task.state === 'running') this.#show(task);
      else if (this.#shown.delete(task.id)) this.#board.end(endOf(task));
    }
  }

  /** Ends a task with all that it started. */
  async stopTask(taskId: string): Promise<void> {
    await this.#open().kill(taskId);
    this.scan();
  }

  /** The log of a task, and whether it still runs. */
  log(taskId: string): { path: string; runs: boolean } | null {
    const task = this.#list().find(({ id }) => id === taskId);
    return task ? { path: task.logPath, runs: task.state === 'running' } : null;
  }

  #again(): void {
    this.scan();
    this.#timer = setTimeout(() => this.#again(), SCAN_MS);
  }

  #list(): BackgroundTask[] {
    try {
      return this.#open().list();
    } catch {
      // A directory that cannot be read has no tasks for this page. `agent-bash ps` says why.
      return [];
    }
  }

  #show(task: BackgroundTask): void {
    if (this.#shown.has(task.id) || this.#board.isReported(task.id)) return;
    this.#shown.add(task.id);
    this.#board.task(runOf(task));
  }
}

function runOf({ id, pid, command, cwd, startedAt }: BackgroundTask): Omit<PageRun, 'project' | 'tokens'> {
  return {
    id: idOfTask(id),
    runId: '',
    host: null,
    kind: 'task',
    command: innerOf(bash).redact(command),
    cwd,
    actor: null,
    startedAt,
    state: 'running',
    waiting: null,
    lastLine: '',
    limitMs: null,
    idleMs: null,
    confinement: null,
    size: null,
    processes: null,
    cpuMs: null,
    memory: null,
    pid,
    taskId: id,
    ports: [],
    undo: false,
    stdin: false,
  };
}

function endOf({ id, state, exitCode, signal, endedAt }: BackgroundTask) {
  const word: EndState = state === 'killed' ? 'signaled' : state === 'running' ? 'lost' : state;
  return { id: idOfTask(id), ...bareEnd(word, endedAt ?? Date.now()), exitCode, signal, taskId: id };
}
