import type { PageCommit, PageDraft } from '../../wire.ts';

/** A commit of this tab. */
export interface DoneCommit extends PageCommit {
  /** Unix time in ms. */
  at: number;
  isUndone: boolean;
}

/** A draft that this tab shows. One that was committed here stays, so that the commit can be undone. */
export interface KnownDraft {
  draft: PageDraft;
  /** How it ended; `null` while it is open. */
  end: 'committed' | 'discarded' | 'gone' | null;
  /** The commits of this tab, the newest first. */
  commits: DoneCommit[];
}

/** The drafts of this tab. */
export class KnownDrafts {
  readonly #known = new Map<string, KnownDraft>();

  get(id: string | null): KnownDraft | null {
    return (id !== null && this.#known.get(id)) || null;
  }

  /** Returns all drafts, the newest first. */
  get all(): KnownDraft[] {
    return [...this.#known.values()].sort((one, other) => other.draft.createdAt - one.draft.createdAt);
  }

  /** Takes the present drafts. Others are forgotten, unless they are open on the page or were committed here. */
  update(drafts: readonly PageDraft[], chosen: string | null): void {
    const ids = new Set(drafts.map(({ id }) => id));
    for (const draft of drafts) {
      const known = this.#known.get(draft.id);
      // The list may be older than what this tab has done.
      if (known?.end === 'committed' || known?.end === 'discarded') continue;
      if (known) Object.assign(known, { draft, end: null });
      else this.#known.set(draft.id, { draft, end: null, commits: [] });
    }
    for (const [id, known] of this.#known) {
      if (ids.has(id)) continue;
      known.end ??= 'gone';
      if (id !== chosen && known.commits.length === 0) this.#known.delete(id);
    }
  }
}
