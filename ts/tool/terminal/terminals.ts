import { BashError } from 'agent-bash';
import { type Beginning, Terminal } from './terminal.ts';
import type { TerminalState } from './types.ts';

/** Terminals that may run at once. */
const MOST_RUNNING = 8;
/** Ended terminals that are kept, the latest. */
const MOST_ENDED = 8;

/** The terminals of one tool, by their ids. */
export class Terminals {
  readonly #terminals = new Map<string, Terminal>();
  readonly #starting = new Set<Promise<unknown>>();
  #last = 0;
  #closed = false;

  /**
   * Rejects as `bash()` does, with `ERR_BASH_UNSUPPORTED` if the machine has no terminals, and with
   * `ERR_BASH_TOO_MANY_TASKS` if too many run.
   */
  async start(beginning: Beginning, signal: AbortSignal | undefined): Promise<Terminal> {
    this.#checkOpen();
    const running = this.list().filter(({ end }) => !end);
    const count = running.length + this.#starting.size;
    if (count >= MOST_RUNNING) {
      throw new BashError(
        'ERR_BASH_TOO_MANY_TASKS',
        `${count} terminals are running already: stop one of them (${named(running)}) before another is started`,
      );
    }
    const starting = this.#start(beginning, signal);
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
    }
  }

  /** Returns the terminal with this id, or the only one. Throws `ERR_BASH_UNKNOWN_TASK`, which lists the ids. */
  get(id: string | null | undefined): Terminal {
    this.#checkOpen();
    const all = [...this.#terminals.values()];
    const running = all.filter((terminal) => terminal.running);
    const [only, ...others] = running.length > 0 ? running : all;
    const found = id == null ? (others.length === 0 ? only : undefined) : this.#terminals.get(id);
    if (found) return found;
    const problem = id == null ? 'id is needed' : `there is no terminal ${JSON.stringify(shortened(id))}`;
    const hint = all.length === 0 ? 'none was started' : `there are ${named(this.list())}`;
    throw new BashError('ERR_BASH_UNKNOWN_TASK', `${problem}: ${hint}`);
  }

  /** Lists all terminals in the order they started. */
  list(): TerminalState[] {
    this.#checkOpen();
    return [...this.#terminals.values()].map((terminal) => terminal.state());
  }

  /** Ends all terminals, including those that are starting. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#starting);
    await Promise.allSettled([...this.#terminals.values()].map((terminal) => terminal.stop()));
    this.#terminals.clear();
  }

  async #start(beginning: Beginning, signal: AbortSignal | undefined): Promise<Terminal> {
    this.#last += 1;
    const id = `t${this.#last}`;
    const terminal = new Terminal(id, beginning);
    await terminal.start(signal);
    this.#terminals.set(id, terminal);
    void terminal.ended.then(() => this.#forget());
    return terminal;
  }

  #forget(): void {
    const ended = [...this.#terminals].filter(([, terminal]) => !terminal.running);
    for (const [id] of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) this.#terminals.delete(id);
  }

  #checkOpen(): void {
    if (this.#closed) throw new BashError('ERR_BASH_CLOSED', 'the terminals of this tool were closed');
  }
}

function named(states: TerminalState[]): string {
  return states.map(({ id, end }) => (end ? `${id} (ended)` : id)).join(', ');
}

function shortened(id: string): string {
  return id.length > 20 ? `${id.slice(0, 20)}…` : id;
}
