import type { History } from '../history.ts';
import type { PageRun } from '../wire.ts';
import type { Board } from './board.ts';

/** Most runs that are remembered as looked up. */
const KNOWN = 1_000;
/** Time in ms after the start of a task in which its entry may still be written. Other tasks have none. */
const WRITTEN_MS = 10_000;

/** Finds the actors of tasks in the ledger: hosts do not report them. */
export class Owners {
  readonly #board: Board;
  readonly #history: History;
  readonly #asked = new Set<string>();
  #unlisten: (() => void) | null = null;

  constructor(board: Board, history: History) {
    this.#board = board;
    this.#history = history;
  }

  start(): void {
    this.#unlisten ??= this.#board.listen(({ runs }) => {
      for (const run of runs) if (run.taskId !== null && run.actor === null && run.runId !== '') void this.#ask(run);
    });
  }

  stop(): void {
    this.#unlisten?.();
    this.#unlisten = null;
    this.#asked.clear();
  }

  async #ask({ runId, startedAt }: PageRun): Promise<void> {
    if (this.#asked.has(runId)) return;
    if (this.#asked.size >= KNOWN) this.#asked.delete(this.#asked.values().next().value as string);
    this.#asked.add(runId);
    const entry = await this.#history.entry(runId, startedAt).catch(() => null);
    if (!entry && Date.now() < startedAt + WRITTEN_MS) this.#asked.delete(runId);
    if (entry?.actor && this.#unlisten) this.#board.owned(runId, entry.actor);
  }
}
