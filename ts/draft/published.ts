import { channels, type ObservedDraft } from '../observe/channels.ts';

/** A draft, as messages name it. */
type Named = Pick<ObservedDraft, 'name' | 'root'> & { id: string };

/** Publishes what has happened to a draft. */
export function publishDraft(
  event: ObservedDraft['event'],
  { id, name, root }: Named,
  facts: Partial<Pick<ObservedDraft, 'forkOf' | 'counts' | 'undoId'>> = {},
): void {
  if (!channels.draft.hasSubscribers) return;
  const { forkOf = null, counts = null, undoId = null } = facts;
  channels.draft.publish({ event, draft: id, name, root, forkOf, counts, undoId } satisfies ObservedDraft);
}
