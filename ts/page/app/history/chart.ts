import type { PageHistory } from '../../wire.ts';
import { fill, h } from '../base/dom.ts';
import { clock, day } from '../base/format.ts';
import { make } from '../base/icon.ts';

const DAY_MS = 24 * 3_600_000;
/** Width and height of the drawing, in its own units. */
const [WIDTH, HEIGHT] = [480, 40];
const LABELS = 6;

/** A chart of the runs by time, and of the failed ones among them. */
export class Chart {
  readonly element = h('div', { class: 'day' });

  update(history: PageHistory): void {
    const { runs, failed, lost, bars, from, until } = history;
    fill(this.element, JSON.stringify([runs, failed, lost, bars]), () => {
      const number = (value: number, word: string) => [h('b', {}, value.toLocaleString('en')), ` ${word}`];
      const sum = h('p', {}, ...number(runs, 'runs'), ', ', ...number(failed, 'failed'), ', ', ...number(lost, 'lost'));
      return [sum, drawingOf(history), axis(from, until)];
    });
  }
}

function drawingOf({ bars, from, until }: PageHistory): Node {
  const most = Math.max(1, ...bars.map(({ runs }) => runs));
  const busiest = bars.findIndex(({ runs }) => runs === most);
  const width = WIDTH / bars.length;
  const label = `Runs by time. Most at ${timeOf(from + ((until - from) * busiest) / bars.length, until - from)}: ${most}.`;
  const drawing = make('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': label,
  });
  for (const [index, { runs, failed }] of bars.entries()) {
    const bar = (number: number, name: string) => {
      const height = (number / most) * (HEIGHT - 2);
      return make('rect', { class: name, x: index * width + 1, y: HEIGHT - height, width: width - 2, height });
    };
    if (runs > 0) drawing.append(bar(runs, 'bar-ok'));
    if (failed > 0) drawing.append(bar(failed, 'bar-bad'));
  }
  return drawing;
}

function axis(from: number, until: number): HTMLElement {
  const span = until - from;
  const times = Array.from({ length: LABELS }, (_, index) => timeOf(from + (span * index) / LABELS, span));
  return h('p', { class: 'axis', 'aria-hidden': 'true' }, ...[...times, 'now'].map((words) => h('span', {}, words)));
}

function timeOf(at: number, span: number): string {
  return span > 2 * DAY_MS ? day(at) : clock(at).slice(0, 5);
}
