import type { BackgroundCheck, BackgroundRegistry, BackgroundTask } from 'agent-bash';

/** What the model knows of the tasks of one registry, from the tool and from the notices. */
export class Told {
  /** Whether the model is told of ends by itself (`backgroundNotices`). */
  notified = false;
  readonly #ended = new Set<string>();
  readonly #cursors = new Map<string, number>();

  /** The model reads a check. */
  check({ task, cursor }: BackgroundCheck): void {
    if (task.state === 'running') this.#cursors.set(task.id, cursor);
    else this.end(task.id);
  }

  /** The model is told that a task has ended. */
  end(id: string): void {
    this.#ended.add(id);
    this.#cursors.delete(id);
  }

  /** Whether the model knows that a task has ended. */
  knowsEnd(id: string): boolean {
    return this.#ended.has(id);
  }

  /** How far the model has read its log, in bytes; `undefined` for one that it has never checked. */
  cursor(id: string): number | undefined {
    return this.#cursors.get(id);
  }

  /** Forgets tasks that the registry has no longer. */
  keep(tasks: BackgroundTask[]): void {
    const ids = new Set(tasks.map(({ id }) => id));
    for (const known of [this.#ended, this.#cursors]) {
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    }
  }
}

const registries = new WeakMap<BackgroundRegistry, Told>();
let anyNotified = false;

/** From now on the model is told of ends in this registry by itself. */
export function notify(registry: BackgroundRegistry): Told {
  const told = toldOf(registry);
  told.notified = true;
  anyNotified = true;
  return told;
}

/** Whether it is; the registry is asked for, and so opened, only where there is one that is. */
export function isNotified(registry: () => BackgroundRegistry): boolean {
  try {
    return anyNotified && toldOf(registry()).notified;
  } catch {
    return false;
  }
}

/** What the model was told of the tasks of this registry. */
export function toldOf(registry: BackgroundRegistry): Told {
  const known = registries.get(registry);
  if (known) return known;
  const told = new Told();
  registries.set(registry, told);
  return told;
}
