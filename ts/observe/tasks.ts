import type { BackgroundTask } from '../../native.cjs';
import { channels, isObserved, type Observed, type ObservedKill } from './channels';

/** Ended tasks that are remembered. */
const KEPT = 1_000;

/** Tells of the tasks of one registry on the channels. */
export class TaskObserver {
  /** Those whose start was told and whose end was not. */
  readonly #running = new Set<string>();
  /** The last that have ended: the answer to a start may come behind the end. */
  readonly #ended = new Set<string>();

  /** Whether somebody listens to what the core would have to be asked for. */
  get wants(): { exit: boolean; output: boolean } {
    return { exit: isObserved(), output: channels.output.hasSubscribers };
  }

  /** It runs; told once, by whoever hears of it first. */
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
