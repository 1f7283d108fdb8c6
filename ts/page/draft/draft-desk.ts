import { resolve } from 'node:path';
import type { Draft, DraftChanges } from 'agent-bash';
import type { Changed } from '../host/protocol.ts';
import { Refusal } from '../http/guard.ts';
import type { PageCommit, PageDraftChanges, PageDraftFile } from '../wire.ts';
import type { OpenDrafts } from './open-drafts.ts';
import { withDraft } from './with-draft.ts';

/** Most paths of one kind in a response. */
const PATHS = 200;
/** Most bytes of the patch of a draft, and of one file. */
const PATCH_BYTES = 256 * 1024;
/** Unchanged lines around a change in a file that is too long to be shown as a whole. */
const CONTEXT = 3;

/** What a person reads of a draft and does with it. Each method rejects with `Refusal` if that is not possible. */
export class DraftDesk {
  readonly #open: OpenDrafts;

  constructor(open: OpenDrafts) {
    this.#open = open;
  }

  /** Returns what a draft has changed. */
  async changes(id: string): Promise<PageDraftChanges> {
    return this.#look(id, async (draft) => {
      const found = await draft.changes({ list: PATHS });
      const { bytes, counts, conflicts } = found;
      return {
        ...{ bytes, counts, changes: changedOf(found) },
        conflicts: conflicts.slice(0, PATHS),
        moreConflicts: Math.max(0, conflicts.length - PATHS),
        patch: await draft.diff({ maxBytes: PATCH_BYTES }),
      };
    });
  }

  /** Returns one path that a draft has changed. A file that it has not changed is refused: the page reads no others. */
  async file(id: string, path: string): Promise<PageDraftFile> {
    return this.#look(id, async (draft) => {
      const paths = [resolve(draft.root, path)];
      const [whole] = paths;
      const found = await draft.changes({ paths, list: 1 });
      const change = changedOf(found).find((one) => one.path === whole || one.from === whole) ?? null;
      const isConflict = found.conflicts.some((one) => one.path === whole);
      if (!change && !isConflict) throw new Refusal(409, 'gone', 'the draft does not change this file any more');
      const { bytes = 0, bytesBefore = 0, type = null } = change ?? {};
      if (!change || type === 'directory') return { change, patch: '' };
      const isShort = Math.max(bytes ?? 0, bytesBefore ?? 0) <= PATCH_BYTES / 4;
      const context = isShort ? PATCH_BYTES : CONTEXT;
      return { change, patch: await draft.diff({ paths, context, maxBytes: PATCH_BYTES }) };
    });
  }

  /** Commits a draft, or these paths of it. Conflicts stop it, or stay in the draft with `skip`. */
  async commit(id: string, paths: string[] | undefined, skip: boolean): Promise<PageCommit> {
    const committed = await withDraft(id, async (draft) => {
      const made = await draft.commit({ paths, onConflict: skip ? 'skip' : 'stop' });
      return { ...made, isOver: draft.state === 'committed' };
    });
    await this.#open.scan();
    const { applied, skipped, conflicts, undoId, isOver } = committed;
    const reasons = (list: typeof conflicts | typeof skipped) =>
      list.slice(0, PATHS).map(({ path, why }) => ({ path, why }));
    return {
      applied: applied.slice(0, PATHS),
      skipped: reasons(skipped),
      conflicts: reasons(conflicts),
      more: [applied, skipped, conflicts].reduce((sum, list) => sum + Math.max(0, list.length - PATHS), 0),
      undoId,
      isOver,
    };
  }

  /** Removes a draft with all its changes. */
  async discard(id: string): Promise<void> {
    await withDraft(id, (draft) => draft.discard());
    await this.#open.scan();
  }

  /** Uses a draft without a change to the project: one whose commit was cut short is refused. */
  #look<T>(id: string, use: (draft: Draft) => Promise<T>): Promise<T> {
    if (this.#open.isCutShort(id))
      throw new Refusal(409, 'busy', 'a commit of this draft is under way or was cut short');
    return withDraft(id, use);
  }
}

/** Returns the listed changes of a draft in one list, sorted by path. */
function changedOf({ created, modified, deleted, renamed }: DraftChanges): Changed[] {
  const lists = { created, modified, deleted };
  const kinds = Object.keys(lists) as (keyof typeof lists)[];
  const changes = kinds.flatMap((kind) =>
    lists[kind].map(({ kind: type, ...change }): Changed => ({ ...change, kind, type })),
  );
  const moves = renamed.map(
    ({ from, to }): Changed => ({ kind: 'renamed', path: to, from, type: null, bytes: null, bytesBefore: null }),
  );
  return [...changes, ...moves].sort((one, other) => (one.path < other.path ? -1 : 1));
}
