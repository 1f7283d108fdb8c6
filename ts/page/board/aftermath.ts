import type { History } from '../history.ts';
import type { PageRun } from '../wire.ts';
import type { Board } from './board.ts';
import { endOf } from './end-of.ts';

/** Times in ms after which the ledger is asked how a run has ended whose host is gone. */
const ASK_MS = [0, 250, 2_000, 10_000];

/** Finds the ends of runs that were lost with their host: their helpers write them to the ledger. */
export class Aftermath {
  readonly #board: Board;
  readonly #history: History;

  constructor(board: Board, history: History) {
    this.#board = board;
    this.#history = history;
  }

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
