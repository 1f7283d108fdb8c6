import type { ChangeCounts } from 'agent-bash';
import { h, hidden } from './dom.ts';
import { changedWords } from './words.ts';

/** The sign of each kind of change, and the class that colours it. */
export const SIGNS = {
  created: ['+', 'plus'],
  modified: ['~', 'tilde'],
  deleted: ['−', 'minus'],
  renamed: ['→', 'arrow'],
} as const;

type Kind = keyof typeof SIGNS;

/** Makes counts of changes in signs, with words for screen readers. */
export function changedSigns(counts: ChangeCounts): HTMLElement {
  const kinds = (Object.keys(SIGNS) as Kind[]).filter((kind) => counts[kind] > 0);
  const signs = kinds.map((kind) => {
    const [sign, name] = SIGNS[kind];
    return h('span', { class: name }, `${sign}${counts[kind].toLocaleString('en')} `);
  });
  return h('span', {}, h('span', { 'aria-hidden': 'true' }, ...signs), hidden(changedWords(counts)));
}
