import { randomUUID } from 'node:crypto';
import { type BashResult, bash } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { Leftovers } from './leftovers.ts';
import { type Place, type Processes, processesOf } from './processes.ts';

/** The variable that identifies the sandbox in its processes' environment. */
const MARK = 'AGENT_BASH_SANDBOX';

/** A command that has started, as far as its end is concerned. */
interface Started {
  pid: Promise<number | null>;
  ended: Promise<Pick<BashResult, 'survivors'>>;
  abort(): void;
}

/** The commands that one sandbox has started, and the processes that they left running. */
export class Running {
  /** The processes of the machine that runs the commands. */
  readonly processes: Processes;
  readonly #id = randomUUID();
  readonly #leftovers: Leftovers;
  readonly #running = new Map<Started, Promise<unknown>>();
  #startedAny = false;

  constructor({ graceMs, ...place }: Place & { graceMs?: number | undefined }) {
    this.processes = processesOf(place);
    this.#leftovers = new Leftovers(
      `${MARK}=${this.#id}`,
      graceMs ?? innerOf(bash).facts().request.defaultGraceMs,
      this.processes,
    );
  }

  /** The variable that each command receives. */
  get mark(): Record<string, string> {
    return { [MARK]: this.#id };
  }

  /** Tracks a command until it has ended. */
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

  /** Ends all commands. Resolves when they are gone. */
  async end(): Promise<void> {
    const ending = [...this.#running];
    for (const [command] of ending) command.abort();
    await Promise.all(ending.map(([, over]) => over));
    if (this.#startedAny) await this.#leftovers.end();
  }
}
