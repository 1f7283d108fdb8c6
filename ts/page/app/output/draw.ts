import { classesOf } from '../../../render/classes.ts';
import type { Run } from '../../../render/style.ts';
import { h } from '../base/dom.ts';

/** Makes the nodes of a line: text, and spans with our classes. Output never becomes markup. */
export function nodesOf(runs: readonly Run[]): Node[] {
  return runs.map(({ text, style, ours }) => {
    const names = ours ? ['more'] : classesOf(style);
    if (names.length === 0) return document.createTextNode(text);
    return h('span', { class: names.map((name) => `s-${name}`).join(' ') }, text);
  });
}

/** Makes the element of a line with its number. */
export function lineElement(runs: readonly Run[], label: string): HTMLElement {
  const text = h('span');
  text.append(...nodesOf(runs));
  return h('div', { class: 'l', 'data-n': label }, text);
}

/** Makes a remark of the page between lines of output. */
export function remarkElement(...words: (string | Node)[]): HTMLElement {
  return h('p', { class: 'cut' }, ...words);
}
