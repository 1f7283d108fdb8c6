import type { GitChange } from 'agent-bash';
import { visible } from '../../../core/visible.ts';
import type { Changed } from '../../host/protocol.ts';
import type { PageEnded, PageRun } from '../../wire.ts';
import { type Child, h, hidden } from '../base/dom.ts';
import { count, shortPath, size } from '../base/format.ts';
import { SIGNS } from '../base/signs.ts';
import { changedWords } from '../base/words.ts';

/** Makes the part that lists what a run changed; `null` without a receipt, or if nothing changed. */
export function changesPart(run: PageRun, end: PageEnded, home: string): HTMLElement | null {
  const { receipt, changes, directories, git } = end;
  if (!receipt) return null;
  const words = changedWords(receipt).replaceAll(', ', ' · ');
  if (words === '' && directories.length + git.length === 0 && end.receiptState === 'known') return null;
  const head = h(
    'div',
    { class: 'part-head' },
    h('h2', {}, 'Changed'),
    h('p', {}, `${words || 'no file'} · ${extent(end)}`),
  );
  const listed = changes ?? [];
  const total = receipt.created + receipt.modified + receipt.deleted + receipt.renamed;
  const root = run.project.path;
  const rest = total - listed.length;
  const sentences = [
    rest > 0 && listed.length > 0 ? `And ${count(rest, 'more change')}.` : '',
    directories.length > 0
      ? `Not listed file by file: ${directories.map((path) => within(path, root, home)).join(', ')}.`
      : '',
    ...git.map((one) => gitWords(one, root, home)),
  ].filter(Boolean);
  return h(
    'section',
    { class: 'part', 'aria-label': 'Changed' },
    head,
    listed.length > 0 && fileTable(h('tbody', {}, ...listed.map((change) => fileRow(change, root, home)))),
    ...sentences.map((sentence) => h('p', { class: 'say' }, sentence)),
  );
}

function extent({ receiptState, receiptWhy, attribution }: PageEnded): string {
  if (receiptState !== 'known') return receiptWhy ?? 'some changes may be missing';
  return attribution === 'command' ? 'every change of its own processes' : 'every change made while it ran';
}

/** Makes a table of changed files around its rows. */
export function fileTable(rows: HTMLElement): HTMLElement {
  const heads = ['Change', 'Path', 'Size'].map((name) => h('th', { scope: 'col' }, name));
  return h(
    'table',
    { class: 'files' },
    h('caption', { class: 'vh' }, 'Changed files'),
    h('colgroup', {}, h('col', { class: 'w-kind' }), h('col'), h('col', { class: 'w-size' })),
    h('thead', { class: 'vh' }, h('tr', {}, ...heads)),
    rows,
  );
}

/** Makes the row of a changed file. `lead` stands before its kind, `wrap` makes its path from the parts of it. */
export function fileRow(
  change: Changed,
  root: string,
  home: string,
  lead: Child = null,
  wrap: (nodes: Node[]) => Node[] = (nodes) => nodes,
): HTMLElement {
  const [sign, name] = SIGNS[change.kind];
  return h(
    'tr',
    {},
    h('td', {}, lead, h('span', { class: `sign ${name}`, 'aria-hidden': 'true' }, sign), change.kind),
    h('td', { class: 'path' }, ...wrap(pathNodes(change, root, home))),
    h('td', { class: 'r' }, sizes(change)),
  );
}

function pathNodes({ path, from }: Changed, root: string, home: string): Node[] {
  const parts = (whole: string): Node[] => {
    const words = within(whole, root, home);
    const cut = words.replace(/\/$/, '').lastIndexOf('/') + 1;
    return [h('i', {}, words.slice(0, cut)), document.createTextNode(words.slice(cut))];
  };
  if (from === undefined) return parts(path);
  return [...parts(from), h('span', { class: 'arrow', 'aria-hidden': 'true' }, ' → '), hidden(' to '), ...parts(path)];
}

function sizes({ kind, bytes, bytesBefore }: Changed): string {
  if (kind === 'modified' && bytes !== null && bytesBefore !== null) {
    return bytes === bytesBefore ? size(bytes) : `${size(bytesBefore)} → ${size(bytes)}`;
  }
  const one = bytes ?? bytesBefore;
  return one === null ? '' : size(one);
}

/** Returns a path relative to its project, or below the home directory. */
export function within(path: string, root: string, home: string): string {
  return path.startsWith(`${root}/`) ? visible(path.slice(root.length + 1)) : shortPath(path, home);
}

function gitWords({ repository, head, branch, index, stash, state }: GitChange, root: string, home: string): string {
  const name = repository === root ? 'Git' : `Git in ${within(repository, root, home)}`;
  const [before, after] = branch;
  const at = (commit: string | null) => commit?.slice(0, 7) ?? 'nothing';
  const parts = [
    before !== after ? `now on ${after ?? 'no branch'}, before on ${before ?? 'none'}` : '',
    head[0] !== head[1] ? `${after ?? 'HEAD'} moved from ${at(head[0])} to ${at(head[1])}` : '',
    index ? 'the index changed' : '',
    stash ? 'the stash changed' : '',
    state ? `a ${state} is under way` : '',
    head[0] === head[1] && before === after ? `${after ?? 'HEAD'} did not move` : '',
  ];
  return `${name}: ${visible(parts.filter(Boolean).join(', '))}.`;
}
