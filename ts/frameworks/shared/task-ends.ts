import type { BackgroundRegistry, BackgroundTask } from 'agent-bash';
import { NOT_BY_USER, notice } from '../../ai/notices.ts';
import { notify } from '../../tool/call/manage.ts';

/** Tells of the tasks of a registry that end, each once, unless the model has learnt its end by a call. */
export class TaskEnds {
  readonly #registry: BackgroundRegistry;
  readonly #tell: (notice: string, task: BackgroundTask) => void;
  /** The calls that may tell the model of an end. */
  readonly #calls = new Set<Promise<unknown>>();
  #stopped = false;

  constructor(registry: BackgroundRegistry, tell: (notice: string, task: BackgroundTask) => void) {
    this.#registry = registry;
    this.#tell = tell;
    notify(registry);
    registry.on('exit', this.#ended);
  }

  /** Waits for a call that may tell the model of an end, before an end is told here. */
  async during<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Tells of no further end. */
  stop(): void {
    this.#stopped = true;
    this.#registry.off('exit', this.#ended);
  }

  readonly #ended = async (task: BackgroundTask): Promise<void> => {
    await Promise.allSettled(this.#calls);
    const knowledge = notify(this.#registry);
    if (this.#stopped || knowledge.knowsEnd(task.id)) return;
    const text = notice(task, knowledge.cursor(task.id));
    knowledge.end(task.id);
    this.#tell(`${NOT_BY_USER}\n\n${text}`, task);
  };
}
