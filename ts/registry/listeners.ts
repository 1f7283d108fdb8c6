import type { BackgroundTask, NativeRegistry } from '../../native.cjs';
import { type EventOf, listen, type TaskEvent } from '../core/calls.ts';
import { invalid } from '../core/checks.ts';
import { failureOf } from '../core/listener.ts';
import { evidenceOf } from '../evidence/json.ts';
import { TaskObserver } from '../observe/tasks.ts';

/** Receives a task that has ended. */
export type TaskExitListener = (task: BackgroundTask) => unknown;
/** Receives a task, and text that was added to its log. */
export type TaskOutputListener = (task: BackgroundTask, text: string) => unknown;

/** The listeners of one registry. The core sends only events that have a listener. */
export class RegistryListeners {
  #native: NativeRegistry | null = null;
  readonly #exit = new Set<TaskExitListener>();
  readonly #output = new Set<TaskOutputListener>();
  /** Publishes on the channels. */
  readonly observer = new TaskObserver();
  #observed = { exit: false, output: false };
  /** Listeners that have failed before. A listener that fails at each line must not fill the terminal. */
  readonly #warned = new WeakSet<TaskExitListener | TaskOutputListener>();

  /** The tasks whose ends are waited for. */
  readonly #awaited = new Map<string, () => void>();

  /** Listens to another registry of the core. */
  bind(native: NativeRegistry): void {
    if (this.#native) listen(this.#native.id, null);
    this.#native = native;
    for (const resolve of this.#awaited.values()) resolve();
    this.#awaited.clear();
    this.#watch();
  }

  /** Resolves when a task has ended, or the registry has left its place. */
  exitOf(id: string): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited.set(id, resolve);
      this.#watch();
      const tasks = JSON.parse(this.#native?.list() ?? '[]') as BackgroundTask[];
      if (tasks.some((task) => task.id === id && task.state !== 'running')) this.#forget(id);
    });
  }

  #forget(id: string): void {
    this.#awaited.get(id)?.();
    if (this.#awaited.delete(id)) this.#watch();
  }

  add(event: 'exit' | 'output', listener: TaskExitListener | TaskOutputListener): void {
    if (typeof listener !== 'function') throw invalid('listener', listener, 'a function');
    this.#of(event).add(listener);
    this.#watch();
  }

  remove(event: 'exit' | 'output', listener: TaskExitListener | TaskOutputListener): void {
    if (this.#of(event).delete(listener)) this.#watch();
  }

  clear(): void {
    if (!this.#wanted.exit && !this.#wanted.output) return;
    this.#exit.clear();
    this.#output.clear();
    for (const resolve of this.#awaited.values()) resolve();
    this.#awaited.clear();
    this.#observed = { exit: false, output: false };
    this.#watch();
  }

  /** Turns events on or off for the channels, which do not announce their subscribers. */
  observe(): void {
    const { exit, output } = this.observer.wants;
    if (exit === this.#observed.exit && output === this.#observed.output) return;
    this.#observed = { exit, output };
    this.#watch();
  }

  get #wanted(): { exit: boolean; output: boolean } {
    return {
      exit: this.#exit.size > 0 || this.#awaited.size > 0 || this.#observed.exit,
      output: this.#output.size > 0 || this.#observed.output,
    };
  }

  #of(event: 'exit' | 'output'): Set<TaskExitListener | TaskOutputListener> {
    if (event === 'exit') return this.#exit as Set<TaskExitListener | TaskOutputListener>;
    if (event === 'output') return this.#output;
    throw invalid('event', event, 'one of exit, output');
  }

  #watch(): void {
    if (!this.#native) return;
    const { exit, output } = this.#wanted;
    listen(this.#native.id, exit || output ? (event: TaskEvent) => this.#onEvent(event) : null);
    this.#native.watch(exit, output);
  }

  #onEvent(event: TaskEvent): void {
    switch (event.kind) {
      case 'taskExited':
        this.#onExit(event);
        break;
      case 'taskOutput':
        void this.#onOutput(event);
        break;
      default:
        event satisfies never;
    }
  }

  #onExit({ task, confinement, runId, receipt, undo, evidence }: EventOf<'taskExited'>): void {
    const record = { runId, receipt: receipt ?? null, undo: undo ?? null, evidence: evidenceOf(evidence) };
    const facts = { confinement: confinement ?? null, ...record };
    if (this.#observed.exit) this.observer.exit(task, facts);
    this.#forget(task.id);
    for (const listener of [...this.#exit]) void this.#call(listener, () => listener(task));
  }

  // The core sends the next text of this task once this one is acknowledged.
  async #onOutput({ task, text }: EventOf<'taskOutput'>): Promise<void> {
    if (this.#observed.output) this.observer.output(task, text);
    await Promise.all([...this.#output].map((listener) => this.#call(listener, () => listener(task, text))));
    this.#native?.outputTaken(task.id);
  }

  async #call(listener: TaskExitListener | TaskOutputListener, call: () => unknown): Promise<void> {
    const failure = await failureOf(call);
    if (failure === undefined || this.#warned.has(listener)) return;
    this.#warned.add(listener);
    process.emitWarning(`a listener of a BackgroundRegistry failed: ${failure}`, { code: 'AGENT_BASH_LISTENER' });
  }
}
