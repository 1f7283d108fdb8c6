import type { History } from '../history.ts';
import { bareRun } from '../host/read.ts';
import type { HistoryEntry, PageRun } from '../wire.ts';
import type { Board } from './board.ts';
import { endOf } from './end-of.ts';

/** Time in ms for which an ended run stays in the view Now. */
const RECENT_MS = 5 * 60_000;
/** Most ended runs that are read. */
const MOST = 50;
/** Time in ms that a new host has to report its runs. */
const FIRST_MS = 300;

/** Shows runs that ended recently, before this page was connected to their host, and those that were refused. */
export class Recent {
  readonly #board: Board;
  readonly #history: History;
  #timer: NodeJS.Timeout | null = null;
  #unlisten: (() => void) | null = null;
  #following: AbortController | null = null;

  constructor(board: Board, history: History) {
    this.#board = board;
    this.#history = history;
  }

  start(): void {
    if (this.#unlisten) return;
    this.#unlisten = this.#board.listen(({ hosts }) => {
      if (hosts) this.#soon();
    });
    this.#soon();
    const following = new AbortController();
    this.#following = following;
    // No host reports a command that was refused.
    this.#history.refusals(following.signal, () => this.#soon()).catch(() => {});
  }

  stop(): void {
    this.#unlisten?.();
    this.#unlisten = null;
    this.#following?.abort();
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      // The view History reports a ledger that cannot be read.
      this.#read().catch(() => {});
    }, FIRST_MS);
  }

  async #read(): Promise<void> {
    const since = Date.now() - RECENT_MS;
    for (const entry of await this.#history.newest(since, MOST)) {
      if (!this.#unlisten) return;
      const { state, runId, taskId } = entry;
      const end = endOf(entry, runId);
      if (!end || state === 'backgrounded' || this.#board.hasRun(runId, taskId)) continue;
      this.#board.past(runOf(entry), end);
    }
  }
}

function runOf({
  runId,
  command,
  tokens,
  project,
  cwd,
  target,
  actor,
  startedAt,
  confinement,
  undo,
  host,
}: HistoryEntry): PageRun {
  return {
    ...bareRun(),
    ...{ runId, command, tokens, project, cwd, target, actor, startedAt, confinement },
    id: runId,
    host: String(host.pid),
    undo: undo !== null,
  };
}
