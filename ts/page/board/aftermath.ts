import type { History } from '../history.ts';
import type { PageRun } from '../wire.ts';
import type { Board } from './board.ts';
import { endOf } from './end-of.ts';

/** Delays in ms between reads of the ledger for the end of a run whose host is gone. */
const ASK_MS = [0, 250, 2_000, 10_000];

/** Finds the ends of runs whose host is gone in the ledger, to which their helpers write them. */
export class Aftermath {
  readonly #board: Board;
  readonly #history: History;

  constructor(board: Board, history: History) {
    this.#board = board;
    this.#history = history;
  }

  /** Looks for the ends of these runs, after each of the delays until it has found them. */
  of(runs: readonly PageRun[], times: readonly number[] = ASK_MS): void {
    const [wait, ...later] = times;
    if (runs.length === 0 || wait === undefined) return;
    setTimeout(async () => {
      const open = await Promise.all(runs.map(async (run) => ((await this.#settle(run)) ? null : run)));
      this.of(
        open.filter((run) => run !== null),
        later,
      );
    }, wait).unref();
  }

  async #settle({ id, runId }: PageRun): Promise<boolean> {
    if (runId === '' || this.#board.run(id)) return true;
    const entry = await this.#history.entry(runId).catch(() => null);
    const end = entry && endOf(entry, id);
    if (!end) return false;
    this.#board.end(end);
    return true;
  }
}
