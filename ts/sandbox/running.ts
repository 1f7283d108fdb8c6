import { randomUUID } from 'node:crypto';
import { Leftovers } from './leftovers.ts';
import type { Started } from './start.ts';

/** The variable that names the sandbox to what runs in it, so that what is left of it can be found. */
const MARK = 'AGENT_BASH_SANDBOX';

/** SIGTERM to SIGKILL, as in `bash`. */
const DEFAULT_GRACE_MS = 2_000;

/** What one sandbox has started and what that has left running. */
export class Running {
  readonly #id = randomUUID();
  readonly #leftovers: Leftovers;
  readonly #running = new Map<Started, Promise<unknown>>();
  #startedAny = false;

  constructor(graceMs: number = DEFAULT_GRACE_MS) {
    this.#leftovers = new Leftovers(`${MARK}=${this.#id}`, graceMs);
  }

  /** A variable that each command is to have. */
  get mark(): Record<string, string> {
    return { [MARK]: this.#id };
  }

  /** Counts a command in, until it has ended. */
  add<T extends Started>(command: T): T {
    this.#startedAny = true;
    const over = command.ended.then(({ survivors }) => this.#leftovers.remember(survivors));
    this.#running.set(
      command,
      over.catch(() => {}).finally(() => this.#running.delete(command)),
    );
    command.pid.catch(() => {});
    return command;
  }

  /** Ends all of it, and resolves when it is gone. */
  async end(): Promise<void> {
    const ending = [...this.#running];
    for (const [command] of ending) command.abort();
    await Promise.all(ending.map(([, over]) => over));
    if (this.#startedAny) await this.#leftovers.end();
  }
}
