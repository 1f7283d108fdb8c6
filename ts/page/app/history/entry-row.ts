import { visible } from '../../../core/visible.ts';
import type { HistoryEntry } from '../../wire.ts';
import { shortCommand } from '../base/command.ts';
import { button, type Child, h } from '../base/dom.ts';
import { clock, duration, nameOf } from '../base/format.ts';
import { icon } from '../base/icon.ts';
import { changedSigns } from '../base/signs.ts';
import { changedWords, statedEnd } from '../base/words.ts';

/** Makes the row of a run. */
export function entryRow(entry: HistoryEntry, open: () => void): HTMLElement {
  const { word, tone, mark } = statedEnd(entry);
  const command = button(null, open, { class: 'open cmd', title: nameOf(entry.command) });
  command.append(...shortCommand(entry));
  const decided = entry.decidedBy === null ? '' : entry.state === 'refused' ? ', denied' : ', approved';
  const cells: [string, Child][] = [
    ['t', h('time', { datetime: new Date(entry.startedAt).toISOString() }, clock(entry.startedAt))],
    ['s', h('span', { class: `state tone-${tone}` }, icon(mark), word + decided)],
    ['c', command],
    ['p', placeOf(entry)],
    ['who', visible(entry.actor?.agent ?? entry.host.program)],
    ['chg', changes(entry)],
    ['r', entry.durationMs === null ? '' : duration(entry.durationMs)],
  ];
  const row = h('tr', { 'data-run': entry.runId, 'data-state': entry.state });
  row.append(...cells.map(([name, cell]) => h('td', { class: name }, cell)));
  return row;
}

/** Returns the project of a run, with the machine if it is another one. */
function placeOf({ project, target }: HistoryEntry): string {
  return visible(target === null ? project.name : `${project.name} on ${target}`);
}

/** Returns the changes of a run in signs, with words for screen readers. */
function changes({ receipt }: HistoryEntry): HTMLElement | string {
  if (!receipt) return '';
  const words = changedWords(receipt);
  if (words === '') return receipt.state === 'known' ? '' : 'unknown';
  return changedSigns(receipt);
}
