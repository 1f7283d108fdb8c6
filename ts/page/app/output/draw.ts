import { classesOf } from '../../../render/classes.ts';
import type { Run } from '../../../render/style.ts';
import { h } from '../base/dom.ts';

/** Makes the text nodes of a line: spans with classes of ours, and never markup. */
export function nodesOf(runs: readonly Run[]): Node[] {
  return runs.map(({ text, style, ours }) => {
    const names = ours ? ['more'] : classesOf(style);
    if (names.length === 0) return document.createTextNode(text);
    return h('span', { class: names.map((name) => `s-${name}`).join(' ') }, text);
  });
}

/** Makes the element of a line. */
export function lineElement(runs: readonly Run[], isRemark: boolean): HTMLElement {
  const line = h('div', { class: isRemark ? 'line remark' : 'line' });
  line.append(...nodesOf(runs));
  return line;
}
