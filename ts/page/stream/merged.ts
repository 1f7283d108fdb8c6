import type { PageAsk, PageChange, PageDraft, PageEnded, PageHost, PagePool, PageRun } from '../wire.ts';

/** Changes that wait for a tab, merged so that only the newest state of each run is sent. */
export class Merged {
  readonly #runs = new Map<string, PageRun>();
  readonly #ended = new Map<string, PageEnded>();
  readonly #asks = new Map<string, PageAsk>();
  readonly #answered = new Set<string>();
  readonly #removed = new Set<string>();
  readonly #pools = new Map<string, PagePool>();
  readonly #poolsGone = new Set<string>();
  #hosts: PageHost[] | null = null;
  #drafts: PageDraft[] | null = null;

  /** The number of changed runs, asks and other items. */
  get size(): number {
    const lists = [this.#hosts, this.#drafts].filter((list) => list !== null).length;
    return this.#parts.reduce((sum, { size }) => sum + size, lists);
  }

  get #parts() {
    return [this.#runs, this.#ended, this.#asks, this.#answered, this.#removed, this.#pools, this.#poolsGone];
  }

  add({ runs, ended, asks, answered, removed, hosts, pools, poolsGone, drafts }: PageChange): void {
    // Removals come first: the same change may show a removed run again under another id.
    for (const id of removed) {
      this.#runs.delete(id);
      this.#removed.add(id);
    }
    for (const run of runs) {
      this.#runs.set(run.id, run);
      this.#ended.delete(run.id);
      this.#removed.delete(run.id);
    }
    for (const end of ended) this.#ended.set(end.id, end);
    for (const ask of asks) {
      this.#asks.set(ask.id, ask);
      this.#answered.delete(ask.id);
    }
    for (const id of answered) {
      this.#asks.delete(id);
      this.#answered.add(id);
    }
    for (const pool of pools) {
      this.#pools.set(pool.id, pool);
      this.#poolsGone.delete(pool.id);
    }
    for (const id of poolsGone) {
      this.#pools.delete(id);
      this.#poolsGone.add(id);
    }
    if (hosts) this.#hosts = hosts;
    if (drafts) this.#drafts = drafts;
  }

  /** Takes all changes; `null` if there are none. */
  take(): PageChange | null {
    if (this.size === 0) return null;
    const change: PageChange = {
      runs: [...this.#runs.values()],
      ended: [...this.#ended.values()],
      asks: [...this.#asks.values()],
      answered: [...this.#answered],
      removed: [...this.#removed],
      hosts: this.#hosts,
      pools: [...this.#pools.values()],
      poolsGone: [...this.#poolsGone],
      drafts: this.#drafts,
    };
    this.clear();
    return change;
  }

  clear(): void {
    for (const parts of this.#parts) parts.clear();
    this.#hosts = null;
    this.#drafts = null;
  }
}
