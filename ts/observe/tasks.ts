import type { BackgroundTask } from '../../native.cjs';
import { channels, isObserved, type Observed, type ObservedKill } from './channels.ts';

/** How many ended tasks are remembered. */
const KEPT = 1_000;

/** Publishes the events of the tasks of one registry. */
export class TaskObserver {
  /** Tasks whose start was published and whose end was not. */
  readonly #running = new Set<string>();
  /** The last tasks that have ended: the answer to a start may arrive after the end. */
  readonly #ended = new Set<string>();

  /** The events that the channels have subscribers for. */
  get wants(): { exit: boolean; output: boolean } {
    return { exit: isObserved(), output: channels.output.hasSubscribers };
  }

  /** Publishes the start of a task once, at the first event about it. */
  started(task: BackgroundTask): void {
    if (this.#running.has(task.id) || this.#ended.has(task.id)) return;
    this.#running.add(task.id);
    const { command, cwd } = task;
    if (channels.start.hasSubscribers) channels.start.publish({ ...observed(task), command, args: [], cwd });
  }

  output(task: BackgroundTask, text: string): void {
    if (!channels.output.hasSubscribers) return;
    this.started(task);
    channels.output.publish({ ...observed(task), stream: 'stdout', text });
  }

  kill(task: BackgroundTask, reason: ObservedKill['reason']): void {
    this.started(task);
    channels.kill.publish({ ...observed(task), reason, signal: null });
  }

  exit(task: BackgroundTask): void {
    this.started(task);
    this.#running.delete(task.id);
    this.#ended.add(task.id);
    for (const id of this.#ended) {
      if (this.#ended.size <= KEPT) break;
      this.#ended.delete(id);
    }
    if (!channels.exit.hasSubscribers) return;
    const { state, exitCode, signal, startedAt, endedAt } = task;
    const durationMs = Math.max(0, (endedAt ?? startedAt) - startedAt);
    const rest = { timeoutMs: null, taskId: null, usage: null, survivors: [], notes: [] };
    channels.exit.publish({ ...observed(task), status: state, exitCode, signal, durationMs, ...rest });
  }
}

function observed({ id, pid }: BackgroundTask): Observed {
  return { id, kind: 'task', pid };
}
