import type { ChangeCounts, Draft } from 'agent-bash';
import { repositoriesInWords } from '../../core/receipt-line.ts';
import { remark } from '../console.ts';
import { type DraftFlags, wordsOf } from './open.ts';

/** Discards a draft in which nothing was changed. Returns whether it did. */
export async function discardEmpty(draft: Draft): Promise<boolean> {
  try {
    // A commit also takes what no list has: changes in `.git`.
    const { applied, conflicts } = await draft.commit({ dryRun: true });
    if (applied.length + conflicts.length > 0) return false;
    await draft.discard();
    return true;
  } catch {
    // Something that the command has left still runs in it.
    return false;
  }
}

/** Says on standard error what a draft has changed, and how to go on. */
export async function summarize(draft: Draft, flags: DraftFlags): Promise<void> {
  if (draft.state === 'discarded') return remark(`draft ${draft.id} was discarded: nothing was changed`);
  const { counts, conflicts, git } = await draft.changes({ list: 0 });
  const kinds = [...kindsOf(counts), ...repositoriesInWords(git, [draft.root])];
  if (conflicts.length > 0) kinds.push(conflicts.length === 1 ? '1 conflict' : `${conflicts.length} conflicts`);
  await remark(`draft ${draft.id}: ${kinds.join(', ') || 'only objects or logs of git'}`);
  await sayNext(draft.id, flags);
}

/** Says on standard error what can be done with a draft. */
export async function sayNext(id: string, flags: DraftFlags): Promise<void> {
  for (const [what, verb] of NEXT) await remark(`${what} agent-bash draft ${verb} ${id}${wordsOf(flags)}`);
}

const NEXT = [
  ['look:', 'diff'],
  ['keep:', 'commit'],
  ['drop:', 'discard'],
];

/** Returns numbers of changes for a sentence: `2 created`, `1 modified`. */
export function kindsOf(counts: ChangeCounts): string[] {
  return (['created', 'modified', 'deleted', 'renamed'] as const)
    .filter((kind) => counts[kind] > 0)
    .map((kind) => `${counts[kind]} ${kind}`);
}

/** Returns numbers of changes for a table. */
export function briefCounts({ created, modified, deleted, renamed }: ChangeCounts): string {
  return `+${created} ~${modified} -${deleted} >${renamed}`;
}
