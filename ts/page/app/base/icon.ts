const SVG = 'http://www.w3.org/2000/svg';
const RING = 'M6 1.3a4.7 4.7 0 1 0 0 9.4 4.7 4.7 0 0 0 0-9.4Z';

/** The filled paths and the lines of the marks, in a square of 12 units. */
const MARKS = {
  run: { fill: 'M6 2a4 4 0 1 0 0 8 4 4 0 0 0 0-8Z' },
  task: { fill: 'M6 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4Z', line: RING },
  ask: { fill: 'M6 .6 11.4 6 6 11.4.6 6Z' },
  quiet: { line: 'M6 1.4 10.6 6 6 10.6 1.4 6Z' },
  ok: { line: 'm2 6.6 2.6 2.6L10 3.4' },
  fail: { line: 'm2.6 2.6 6.8 6.8m0-6.8-6.8 6.8' },
  stop: { fill: 'M3.5 2h5A1.5 1.5 0 0 1 10 3.5v5A1.5 1.5 0 0 1 8.5 10h-5A1.5 1.5 0 0 1 2 8.5v-5A1.5 1.5 0 0 1 3.5 2Z' },
  time: { line: `${RING}M6 3.4V6l1.8 1.2` },
  refuse: { line: `${RING}m-3.2 8.1 6.4-6.8` },
  lost: { line: 'M6 1.3h.01M9.3 2.7h.01M10.7 6h.01M9.3 9.3h.01M6 10.7h.01M2.7 9.3h.01M1.3 6h.01M2.7 2.7h.01' },
} satisfies Record<string, { fill?: string; line?: string }>;

export type Mark = keyof typeof MARKS;

/** Makes the mark of a state. It is hidden from screen readers: text beside it says the same. */
export function icon(mark: Mark): SVGElement {
  const svg = make('svg', { class: 'st', viewBox: '0 0 12 12', 'aria-hidden': 'true', 'data-mark': mark });
  const { fill, line }: { fill?: string; line?: string } = MARKS[mark];
  if (fill) svg.append(make('path', { d: fill, class: 'solid' }));
  if (line) svg.append(make('path', { d: line, class: 'stroke' }));
  return svg;
}

/** Makes an SVG element. */
export function make(tag: string, attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS(SVG, tag) as SVGElement;
  for (const name in attributes) element.setAttribute(name, String(attributes[name]));
  return element;
}
