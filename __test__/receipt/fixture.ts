import type { BashResult, Change, Receipt, UndoCoverage } from 'agent-bash';
import { RESULT } from '../ai/fixtures/call.ts';

/** A change of a file. */
export function change(path: string, given: Partial<Change> = {}): Change {
  return { path, bytes: 2, bytesBefore: null, kind: 'file', ...given };
}

/** A receipt, with its numbers unless they are given. */
export function receipt(given: Partial<Receipt> = {}): Receipt {
  const { created = [], modified = [], deleted = [], renamed = [] } = given;
  return {
    state: 'known',
    why: null,
    attribution: 'command',
    created,
    modified,
    deleted,
    renamed,
    counts: {
      created: created.length,
      modified: modified.length,
      deleted: deleted.length,
      renamed: renamed.length,
    },
    directories: [],
    ports: { opened: [], closed: [] },
    git: [],
    ...given,
  };
}

/** The result of a command that changed something. */
export function recorded(given: Partial<Receipt>, undo: UndoCoverage | null = null): BashResult {
  return { ...RESULT, receipt: receipt(given), undo } as BashResult;
}
