import { drawLine } from '../../../render/output.ts';
import { PLAIN, type Run } from '../../../render/style.ts';
import { clusters } from '../../../render/width.ts';
import type { PageScreen } from '../../wire.ts';
import { h } from '../base/dom.ts';
import { nodesOf } from './draw.ts';

/** The text and the cursor of each row that is shown. */
const shown = new WeakMap<Element, string>();

/** Draws the screen of a terminal, with one element per row. Only changed rows are drawn again. */
export function screenElement(element: HTMLElement, { lines, rows, columns, cursor }: PageScreen): void {
  element.style.setProperty('--columns', String(columns));
  while (element.childElementCount > rows) element.lastElementChild?.remove();
  while (element.childElementCount < rows) element.append(h('div', { class: 'row' }));
  for (const [index, row] of [...element.children].entries()) {
    const line = lines[index] ?? '';
    const column = cursor?.[0] === index ? cursor[1] : null;
    const key = `${column}:${line}`;
    if (shown.get(row) === key) continue;
    shown.set(row, key);
    const { runs } = drawLine(line, PLAIN, columns * 4);
    row.replaceChildren(...(column === null ? nodesOf(runs) : withCursor(runs, column)));
  }
}

/** Returns the nodes of a row, with the cell of the cursor as one element. */
function withCursor(runs: readonly Run[], column: number): Node[] {
  const [before, at, after]: [Run[], Run[], Run[]] = [[], [], []];
  let place = 0;
  for (const { text, style } of runs) {
    for (const { text: cluster, width } of clusters(text)) {
      const part = place + width <= column ? before : place <= column ? at : after;
      const last = part.at(-1);
      if (last?.style === style) last.text += cluster;
      else part.push({ text: cluster, style });
      place += width;
    }
  }
  if (place < column) before.push({ text: ' '.repeat(column - place), style: PLAIN });
  const cell = h('span', { class: 'cursor' });
  cell.append(...(at.length > 0 ? nodesOf(at) : [' ']));
  return [...nodesOf(before), cell, ...nodesOf(after)];
}
