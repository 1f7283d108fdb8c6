import { BackgroundRegistry, type BackgroundTask, type BashOptions } from 'agent-bash';
import type { Feed } from './feed.ts';

/** A task that has not ended. */
interface Followed {
  feed: Feed;
  onEnd(task: BackgroundTask): void;
}

/** The tasks of a session, in the registry of the host or in one of their own. Their output goes to their feeds. */
export class Tasks {
  readonly #given: BackgroundRegistry | undefined;
  #own: BackgroundRegistry | undefined;
  readonly #followed = new Map<string, Followed>();
  readonly #starting = new Set<Promise<BackgroundTask>>();

  constructor(given: BackgroundRegistry | undefined) {
    this.#given = given;
  }

  /** Starts a task. `show` gets the task with its end, which comes after all output, and returns its feed. */
  async start(
    command: string,
    options: BashOptions,
    show: (task: BackgroundTask, ended: Promise<BackgroundTask>) => Feed,
  ): Promise<BackgroundTask> {
    const starting = this.#start(command, options, show);
    this.#starting.add(starting);
    return await starting.finally(() => this.#starting.delete(starting));
  }

  /** Ends a task and all that it started. */
  async kill(task: BackgroundTask): Promise<void> {
    await this.#registry.kill(task);
  }

  /** Ends the tasks of an own registry. Those of the host's go on, and are no longer followed. */
  async close(): Promise<void> {
    await this.#own?.close();
    this.#given?.off('output', this.#onOutput).off('exit', this.#onExit);
    if (this.#given) for (const { feed } of this.#followed.values()) feed.stop();
  }

  get #registry(): BackgroundRegistry {
    if (this.#given) return this.#given;
    this.#own ??= new BackgroundRegistry();
    return this.#own;
  }

  async #start(command: string, options: BashOptions, show: Parameters<Tasks['start']>[2]): Promise<BackgroundTask> {
    const registry = this.#registry;
    registry.on('output', this.#onOutput).on('exit', this.#onExit);
    const task = await registry.start(command, options);
    let onEnd: Followed['onEnd'] = () => {};
    const ended = new Promise<BackgroundTask>((resolve) => {
      onEnd = resolve;
    });
    this.#followed.set(task.id, { feed: show(task, ended), onEnd });
    return task;
  }

  readonly #onOutput = async ({ id }: BackgroundTask, text: string) => {
    await this.#started();
    await this.#followed.get(id)?.feed.push(text);
  };

  readonly #onExit = async (task: BackgroundTask) => {
    await this.#started();
    this.#followed.get(task.id)?.onEnd(task);
    this.#followed.delete(task.id);
  };

  /** Waits for starts: a task may write and end before its start is known here. */
  async #started(): Promise<void> {
    await Promise.allSettled(this.#starting);
  }
}
