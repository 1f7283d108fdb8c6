import type { BackgroundTask } from '../../native.cjs';
import { channels, isObserved, type Observed, type ObservedExit, type ObservedKill } from './channels.ts';

/** Most ended tasks that are remembered. */
const KEPT = 1_000;

/** The facts about a task at its end, besides the task itself. */
type ExitFacts = Pick<ObservedExit, 'confinement' | 'runId' | 'receipt' | 'undo' | 'evidence'>;

/** Publishes the events of the tasks of one registry. */
export class TaskObserver {
  /** Tasks whose start was published and whose end was not. */
  readonly #running = new Set<string>();
  /** The last tasks that have ended: the answer to a start may arrive after the end. */
  readonly #ended = new Set<string>();
  /** Events of tasks that running commands have just become, by their pid. The exit of the command comes first. */
  readonly #held = new Map<number, (() => void)[]>();

  /** The events that the channels have subscribers for. */
  get wants(): { exit: boolean; output: boolean } {
    return { exit: isObserved(), output: channels.output.hasSubscribers };
  }

  /** Holds back the events of the task that a running command may become, until its exit is published. */
  hold(pid: number): void {
    this.#held.set(pid, []);
  }

  /** Publishes the events that were held back for a command, after its exit. */
  release(pid: number): void {
    const events = this.#held.get(pid) ?? [];
    this.#held.delete(pid);
    for (const event of events) event();
  }

  /** Publishes the start of a task once, at the first event about it. */
  started(task: BackgroundTask): void {
    this.#inTurn(task, () => this.#started(task));
  }

  output(task: BackgroundTask, text: string): void {
    if (!channels.output.hasSubscribers) return;
    this.#inTurn(task, () => {
      this.#started(task);
      channels.output.publish({ ...observed(task), stream: 'stdout', text });
    });
  }

  kill(task: BackgroundTask, reason: ObservedKill['reason']): void {
    this.#inTurn(task, () => {
      this.#started(task);
      channels.kill.publish({ ...observed(task), reason, signal: null });
    });
  }

  exit(task: BackgroundTask, facts: ExitFacts): void {
    this.#inTurn(task, () => this.#exited(task, facts));
  }

  #inTurn({ pid }: BackgroundTask, event: () => void): void {
    const held = this.#held.get(pid);
    if (held) held.push(event);
    else event();
  }

  #started(task: BackgroundTask): void {
    if (this.#running.has(task.id) || this.#ended.has(task.id)) return;
    this.#running.add(task.id);
    const { command, cwd } = task;
    if (channels.start.hasSubscribers) channels.start.publish({ ...observed(task), command, args: [], cwd });
  }

  #exited(task: BackgroundTask, facts: ExitFacts): void {
    this.#started(task);
    this.#running.delete(task.id);
    this.#ended.add(task.id);
    for (const id of this.#ended) {
      if (this.#ended.size <= KEPT) break;
      this.#ended.delete(id);
    }
    if (!channels.exit.hasSubscribers) return;
    const { state, exitCode, signal, startedAt, endedAt } = task;
    const durationMs = Math.max(0, (endedAt ?? startedAt) - startedAt);
    const rest = {
      timeoutMs: null,
      limit: null,
      waitedFor: null,
      taskId: null,
      usage: null,
      survivors: [],
      tokens: null,
      notes: [],
    };
    channels.exit.publish({ ...observed(task), status: state, exitCode, signal, durationMs, ...rest, ...facts });
  }
}

function observed({ id, pid, target }: BackgroundTask): Observed {
  return { id, kind: 'task', pid, target };
}
