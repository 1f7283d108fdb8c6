import { visible } from '../../../core/visible.ts';
import type { PageUndo } from '../../wire.ts';
import { h } from '../base/dom.ts';
import { count, shortPath } from '../base/format.ts';

/** Most items of one kind that are shown. */
const SHOWN = 8;

/** Returns in words what an undo would do. */
export function undoText({ restored, removed, more }: PageUndo): string {
  const parts = [
    restored.length > 0 ? `${count(restored.length, 'path')} ${restored.length === 1 ? 'comes' : 'come'} back` : '',
    removed.length > 0 ? `${count(removed.length, 'new path')} ${removed.length === 1 ? 'is' : 'are'} removed` : '',
  ].filter(Boolean);
  const words = parts.length === 0 ? 'Nothing would change: all is as before the run.' : `${parts.join(', ')}.`;
  return more > 0 ? `${words} ${count(more, 'more path')} beyond those.` : words;
}

/** Returns what an undo would leave as it is. */
export function undoItems({ conflicts, notCovered }: PageUndo, home: string): Node[] {
  const stays = conflicts
    .slice(0, SHOWN)
    .map(({ path, why }) =>
      h('li', {}, 'Stays as it is: ', h('code', {}, shortPath(path, home)), `, ${visible(why)}.`),
    );
  const rest = conflicts.length - stays.length;
  if (rest > 0) stays.push(h('li', {}, `And ${count(rest, 'more path')} that changed since.`));
  const left = notCovered
    .slice(0, SHOWN)
    .map((words) => h('li', { class: 'warn' }, `Not taken back: ${visible(words)}.`));
  const others = notCovered.length - left.length;
  if (others > 0) left.push(h('li', { class: 'warn' }, `And ${count(others, 'more effect')}.`));
  return [...stays, ...left];
}
