import { visible } from '../../../core/visible.ts';
import type { PageCommit, PageDraft } from '../../wire.ts';
import { count, oneLine } from '../base/format.ts';
import { capital, changedWords, type Stated } from '../base/words.ts';
import type { KnownDraft } from './known.ts';

const ENDS = {
  committed: { word: 'committed', tone: 'done', mark: 'ok' },
  discarded: { word: 'discarded', tone: 'done', mark: 'stop' },
  gone: { word: 'over', tone: 'done', mark: 'lost' },
} satisfies Record<string, Stated>;

/** Returns the name of a draft, or its id. */
export function titleOf({ id, name }: PageDraft): string {
  return oneLine(name ?? '') || id;
}

/** Returns the state of a draft as people read it. */
export function statedDraft({ draft, end }: KnownDraft): Stated {
  if (end) return ENDS[end];
  if (draft.state === 'committing') return { word: 'half committed', tone: 'bad', mark: 'lost' };
  if (draft.conflicts > 0) return { word: count(draft.conflicts, 'conflict'), tone: 'ask', mark: 'quiet' };
  return { word: 'open', tone: 'live', mark: 'task' };
}

/** Returns what is to be said of a draft that shows no changes. */
export function wordsAbout({ draft, end }: KnownDraft): string {
  if (end === 'discarded') return 'Its changes are gone. The project is as it was.';
  if (end === 'gone') return 'It was committed, discarded or removed elsewhere.';
  if (end === null && draft.state === 'committing') return 'A commit of it was cut short. Commit finishes it.';
  return '';
}

/** Returns the changes of a draft in words. Those in a repository have no count. */
export function sumOf({ counts, bytes }: Pick<PageDraft, 'counts' | 'bytes'>): string {
  return changedWords(counts) || (bytes > 0 ? 'no file outside of .git' : 'nothing yet');
}

/** Returns what a commit has done. */
export function committedWords({ applied, skipped, more }: PageCommit): string {
  if (applied.length === 0) return 'nothing';
  const stays = skipped.length > 0 ? `, ${skipped.length} ${skipped.length === 1 ? 'stays' : 'stay'} in the draft` : '';
  const others = more > 0 ? ` and ${count(more, 'more path')}` : '';
  return `${count(applied.length, 'path')}${others}${stays}`;
}

/** Returns a reason of a conflict as a sentence about the project. */
export function reasonOf(why: string): string {
  return `${capital(visible(why))} in the project.`;
}
