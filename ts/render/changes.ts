import type { BashResult, Change } from 'agent-bash';
import { receiptLine, shownPath } from '../core/receipt-line.ts';
import { visible } from '../core/visible.ts';
import { grouped } from './words.ts';

type Receipt = NonNullable<BashResult['receipt']>;
type Cover = NonNullable<BashResult['undo']>;

/** Characters of the line that sums up a receipt. */
const SUM_LENGTH = 200;

/** Returns lines about the changes of a command: a summary and, with `expanded`, one line for each change. */
export function changes(receipt: Receipt, cwd: string | undefined, expanded: boolean): string[] {
  const places = cwd === undefined ? [] : [cwd];
  const { state, why, attribution } = receipt;
  const sum = receiptLine({ ...receipt, state: 'known' }, places, SUM_LENGTH);
  const when = attribution === 'window' ? 'changed while it ran' : 'changed';
  const nothing = state === 'known' ? 'nothing' : 'nothing known';
  return [
    `${when}: ${sum === '' ? nothing : sum}`,
    ...(expanded ? listed(receipt, places) : []),
    ...(state === 'known' ? [] : [visible(`receipt: ${state}${why === null ? '' : `: ${why}`}`)]),
  ];
}

function listed({ created, modified, deleted, renamed, counts }: Receipt, places: readonly string[]): string[] {
  const lines = (word: string, total: number, list: readonly Change[], size: (change: Change) => string) => [
    ...list.map((change) => `  ${word} ${shownPath(change.path, places)}${size(change)}`),
    ...left(word, total - list.length),
  ];
  return [
    ...lines('created', counts.created, created, ({ bytes }) => sized(bytes)),
    ...lines('modified', counts.modified, modified, ({ bytes, bytesBefore }) =>
      bytes === bytesBefore || bytesBefore === null ? sized(bytes) : `${sized(bytesBefore)} →${sized(bytes)}`,
    ),
    ...lines('deleted', counts.deleted, deleted, ({ bytesBefore }) => sized(bytesBefore)),
    ...renamed.map(({ from, to }) => `  renamed ${shownPath(from, places)} → ${shownPath(to, places)}`),
    ...left('renamed', counts.renamed - renamed.length),
  ];
}

const left = (word: string, count: number) => (count > 0 ? [`  ${word} ${grouped(count)} more`] : []);
const sized = (bytes: number | null) => (bytes === null ? '' : ` ${grouped(bytes)} B`);

/** Returns how a run can be undone, and which changes an undo leaves. */
export function undoLines({ covers, notCovered }: Cover, runId: string | undefined): string[] {
  const how = covers === 'all' ? 'can be undone' : 'can be undone in part';
  return [
    visible(`${how}${runId ? `: ${runId}` : ''}`),
    ...notCovered.map((text) => visible(`not covered by the undo: ${text}`)),
  ];
}
