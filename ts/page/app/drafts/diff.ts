import { visible } from '../../../core/visible.ts';
import { button, h, hidden } from '../base/dom.ts';
import { count } from '../base/format.ts';
import type { FilePatch, PatchHunk } from './patch.ts';

/** Lines that are shown at once. */
const SHOWN = 400;

/** A line of the project beside the line of the draft in its place. `null`: there is none at that side. */
interface LinePair {
  old: string | null;
  new: string | null;
  isSame: boolean;
  /** The number of the line in the draft, or in the project if the draft has none. */
  number: number;
}

/** Makes the changed lines of a file, one below the other. */
export function diffLines({ notes, hunks }: FilePatch): HTMLElement {
  const lines = hunks.flatMap((hunk, index) => [...(index > 0 ? [gap('div')] : []), ...linesOf(hunk)]);
  const list = h('div', { class: 'lines' });
  return h('div', { class: 'diff' }, ...notesOf(notes), list, inSteps(list, lines));
}

function* linesOf({ old, new: now, lines }: PatchHunk): Generator<HTMLElement> {
  let [before, after] = [old, now];
  for (const { sign, text } of lines) {
    if (sign === '\\') {
      yield h('div', { class: 'remark' }, text.trim());
      continue;
    }
    const number = sign === '-' ? before : after;
    if (sign !== '+') before += 1;
    if (sign !== '-') after += 1;
    const mark = sign === '-' ? '−' : sign;
    const word = sign === '-' ? hidden('removed: ') : sign === '+' ? hidden('added: ') : null;
    const shown = h('span', { class: 'mark', 'aria-hidden': 'true' }, mark);
    yield h('div', { class: `d ${classOf(sign)}`, 'data-n': number }, shown, word, h('span', {}, visible(text)));
  }
}

/** Makes the two sides of a file, the project as it is now and the draft, line beside line. */
export function diffSides({ notes, hunks }: FilePatch): HTMLElement {
  const rows = hunks.flatMap((hunk, index) => [...(index > 0 ? [gap('tr')] : []), ...pairsOf(hunk).map(pairRow)]);
  const heads = ['The project now', 'This draft'].map((name) => h('th', { scope: 'col' }, name));
  const body = h('tbody');
  const table = h('table', { class: 'sides' }, h('thead', {}, h('tr', {}, ...heads)), body);
  return h('div', { class: 'diff' }, ...notesOf(notes), rows.length > 0 && table, inSteps(body, rows));
}

function pairRow({ old, new: now, isSame, number }: LinePair): HTMLElement {
  const cell = (text: string | null, name: string) =>
    h('td', { class: text === null ? 'none' : isSame ? '' : name }, text !== null && visible(text));
  return h('tr', { class: isSame ? 'same' : '', 'data-n': number }, cell(old, 'd-del'), cell(now, 'd-add'));
}

/** Pairs the lines of a hunk: each removed line with the added one in its place. */
function pairsOf({ old, new: now, lines }: PatchHunk): LinePair[] {
  const pairs: LinePair[] = [];
  let [before, after] = [old, now];
  /** The first pair of a change that has no line of the draft yet. */
  let open = 0;
  for (const { sign, text } of lines) {
    if (sign === ' ') {
      pairs.push({ old: text, new: text, isSame: true, number: after });
      open = pairs.length;
    } else if (sign === '-') pairs.push({ old: text, new: null, isSame: false, number: before });
    else if (sign === '+') {
      const place = pairs[open];
      if (place) Object.assign(place, { new: text, number: after });
      else pairs.push({ old: null, new: text, isSame: false, number: after });
      open += 1;
    }
    if (sign === ' ' || sign === '-') before += 1;
    if (sign === ' ' || sign === '+') after += 1;
  }
  return pairs;
}

function classOf(sign: string): string {
  return sign === '+' ? 'd-add' : sign === '-' ? 'd-del' : '';
}

function notesOf(notes: string[]): HTMLElement[] {
  return notes.map((note) => h('p', { class: 'remark' }, visible(note)));
}

/** Makes what stands for the lines between two hunks. */
function gap(tag: 'div' | 'tr'): HTMLElement {
  if (tag === 'div') return h('div', { class: 'remark gap' }, '…');
  return h('tr', { class: 'gap' }, h('td', { class: 'remark', colspan: 2 }, '…'));
}

/** Adds the first lines to a list. Returns the button that adds more; `null` if all are there. */
function inSteps(list: HTMLElement, lines: HTMLElement[]): HTMLElement | null {
  list.append(...lines.slice(0, SHOWN));
  let shown = SHOWN;
  if (lines.length <= shown) return null;
  const more = button(null, () => {
    list.append(...lines.slice(shown, shown + SHOWN));
    shown += SHOWN;
    label();
  });
  more.className = 'btn more';
  const label = () => {
    const left = lines.length - shown;
    if (left > 0)
      more.textContent = `Show ${count(Math.min(left, SHOWN), 'more line')} of ${left.toLocaleString('en')}`;
    else more.remove();
  };
  label();
  return more;
}
