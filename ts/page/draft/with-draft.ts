import { BashError, bash, type Draft, type DraftReason } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { Refusal } from '../http/guard.ts';

/** Calls `use` with a draft, which is closed afterwards. Rejects with `Refusal` if the draft cannot be used. */
export async function withDraft<T>(id: string, use: (draft: Draft) => Promise<T>): Promise<T> {
  try {
    const draft = (await innerOf(bash).openIdleDraft({ id })) as Draft;
    try {
      return await use(draft);
    } finally {
      await draft.close();
    }
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Returns the refusal for an error of a draft. A wrong argument and a fault of this server stay as they are. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof BashError) || error.code === 'ERR_BASH_INVALID_ARG') return error;
  const { reason } = error as BashError & { reason?: DraftReason };
  switch (reason) {
    case 'unknown':
      return new Refusal(409, 'gone', 'this draft is over: it was committed, discarded or not kept any longer');
    case 'busy':
      return new Refusal(
        409,
        'busy',
        'a command runs in this draft, or another process commits or discards it; try again when that has ended',
      );
    case 'space':
      return new Refusal(409, 'space', 'the disk is full; commit or discard drafts, or remove other files');
    default:
      return new Refusal(409, 'failed', error.message);
  }
}
