import type { BackgroundCheck, BackgroundRegistry, BackgroundTask } from 'agent-bash';

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

/** Returns the record of what the model knows of this registry's tasks. */
export function knowledgeOf(registry: BackgroundRegistry): TaskKnowledge {
  const known = registries.get(registry);
  if (known) return known;
  const knowledge = new TaskKnowledge();
  registries.set(registry, knowledge);
  return knowledge;
}
