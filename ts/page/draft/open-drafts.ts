import { type DraftInfo, drafts } from 'agent-bash';
import type { Board } from '../board/board.ts';
import { withDraft } from './with-draft.ts';

/** Shortest and longest time in ms between two readings of all drafts. */
const SCAN_MS = 2_000;
const LONGEST_MS = 15_000;
/** Rest after a reading, as a multiple of its time: drafts with many changes are read less often. */
const REST = 10;

/** Shows the drafts of this user, with their conflicts. */
export class OpenDrafts {
  readonly #board: Board;
  #timer: NodeJS.Timeout | null = null;
  #isWatched = false;
  /** The number of readings that have begun. A later one counts more than an earlier one. */
  #readings = 0;
  #cutShort = new Set<string>();

  constructor(board: Board) {
    this.#board = board;
  }

  start(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    void this.#again();
  }

  stop(): void {
    this.#isWatched = false;
    this.#readings += 1;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Returns whether a commit of a draft was cut short. Whoever opens the draft finishes it. */
  isCutShort(id: string): boolean {
    return this.#cutShort.has(id);
  }

  /** Reads all drafts now. */
  async scan(): Promise<void> {
    const reading = ++this.#readings;
    // A directory that cannot be read has no draft to show.
    const found = await drafts().catch((): DraftInfo[] => []);
    this.#cutShort = new Set(found.filter(({ state }) => state === 'committing').map(({ id }) => id));
    const shown = await Promise.all(
      found.map(async ({ hosts: _, ...draft }) => ({ ...draft, conflicts: await conflictsOf(draft) })),
    );
    if (this.#isWatched && reading === this.#readings) this.#board.drafted(shown);
  }

  async #again(): Promise<void> {
    const start = performance.now();
    await this.scan();
    if (!this.#isWatched) return;
    const wait = Math.min(LONGEST_MS, Math.max(SCAN_MS, REST * (performance.now() - start)));
    this.#timer = setTimeout(() => void this.#again(), wait);
  }
}

/** Returns the number of conflicts of a draft. Opening one that is half committed would finish the commit. */
async function conflictsOf({ id, state }: Pick<DraftInfo, 'id' | 'state'>): Promise<number> {
  if (state !== 'open') return 0;
  const read = withDraft(id, async (draft) => (await draft.changes({ list: 0 })).conflicts.length);
  // It is over by now.
  return read.catch(() => 0);
}
