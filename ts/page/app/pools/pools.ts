import { visible } from '../../../core/visible.ts';
import type { PagePool } from '../../wire.ts';
import type { Context } from '../base/context.ts';
import { fill, h, show, text } from '../base/dom.ts';
import { ago, clock, count, size } from '../base/format.ts';
import { icon } from '../base/icon.ts';
import type { Stated } from '../base/words.ts';

const COLUMNS = ['Place', 'State', 'Runs', 'Calls that wait', 'Load', 'Free memory'];
const CLASSES = ['', 'w-addr', 'w-port r', 'w-chg r', 'w-port r', 'w-since r'];
/** The age in ms from which a report is said to be old: its process does nothing else meanwhile. */
const OLD_MS = 5_000;

type Place = PagePool['places'][number];

/** The states of a place as people read them. Another one is shown as it is. */
const STATES: Record<string, Stated> = {
  new: { word: 'not connected yet', tone: 'done', mark: 'task' },
  connected: { word: 'connected', tone: 'live', mark: 'run' },
  disconnected: { word: 'its link is cut', tone: 'ask', mark: 'quiet' },
  draining: { word: 'draining: takes no new runs', tone: 'ask', mark: 'time' },
  lost: { word: 'lost', tone: 'bad', mark: 'lost' },
  closed: { word: 'closed', tone: 'done', mark: 'stop' },
};

/** The view Pools: the places of each pool of targets, and how busy they are. */
export class PoolsView {
  readonly element: HTMLElement;
  readonly #context: Context;
  readonly #table = h('table', { class: 'grid' });
  readonly #wrap: HTMLElement;
  readonly #empty = h('p', { class: 'choose' }, 'No process has a pool now.');

  constructor(context: Context) {
    this.#context = context;
    const heads = COLUMNS.map((name, index) => h('th', { scope: 'col', class: CLASSES[index] }, name));
    this.#table.append(h('caption', { class: 'vh' }, 'Places of pools'), h('thead', {}, h('tr', {}, ...heads)));
    this.#wrap = h('div', { class: 'tablewrap', role: 'region', 'aria-label': 'Pools', tabindex: 0 }, this.#table);
    this.element = h('div', { class: 'wide' }, h('h2', { class: 'vh' }, 'Pools'), this.#wrap, this.#empty);
  }

  update(): void {
    const pools = [...this.#context.store.pools.values()];
    for (const pool of pools) {
      // The rows stay while nothing but the time of the report changes.
      fill(this.#bodyOf(pool.id), JSON.stringify({ ...pool, reportedAt: 0 }), () => this.#rows(pool));
    }
    for (const body of this.#table.tBodies) {
      if (!pools.some(({ id }) => id === body.dataset.pool)) body.remove();
    }
    show(this.#wrap, pools.length > 0);
    show(this.#empty, pools.length === 0);
    this.tick(Date.now());
  }

  tick(now: number): void {
    for (const { id, reportedAt } of this.#context.store.pools.values()) {
      const age = this.#bodyOf(id).querySelector('time');
      if (age) text(age, now - reportedAt > OLD_MS ? ` · reported ${ago(now - reportedAt)}` : '');
    }
  }

  #bodyOf(id: string): HTMLTableSectionElement {
    const known = [...this.#table.tBodies].find(({ dataset }) => dataset.pool === id);
    if (known) return known;
    const body = h('tbody', { 'data-pool': id }) as HTMLTableSectionElement;
    this.#table.append(body);
    return body;
  }

  #rows(pool: PagePool): HTMLElement[] {
    const { host, places, waiting } = pool;
    const { pid, program } = this.#context.store.known.get(host) ?? { pid: 0, program: '' };
    const words = [visible(program), `pid ${pid}`, count(pool.count, 'place')];
    if (waiting > 0) words.push(`${count(waiting, 'call')} ${waiting === 1 ? 'waits' : 'wait'} for any of them`);
    const label = h('th', { scope: 'rowgroup', colspan: COLUMNS.length }, words.join(' · '), h('time'));
    const rows = [h('tr', { class: 'dayrow' }, label), ...places.map((place) => row(place, pool))];
    const more = pool.count - places.length;
    if (more > 0) rows.push(h('tr', {}, h('td', { colspan: COLUMNS.length }, `and ${count(more, 'more place')}`)));
    return rows;
  }
}

function row(place: Place, { perTarget }: PagePool): HTMLElement {
  const { word, tone, mark } = statedPlace(place);
  const cells: [string, Node | string][] = [
    ['c', visible(place.id)],
    ['s', h('span', { class: `state tone-${tone}` }, icon(mark), word)],
    ['r', `${place.running} of ${perTarget}`],
    ['r', String(place.queued)],
    ['r', place.load > 0 ? place.load.toFixed(2) : '–'],
    ['r', place.memoryFree > 0 ? size(place.memoryFree) : '–'],
  ];
  return h('tr', { 'data-state': place.state }, ...cells.map(([name, cell]) => h('td', { class: name }, cell)));
}

/** Returns the state of a place as people read it. */
function statedPlace({ state, brokenUntil }: Place): Stated {
  if (brokenUntil !== null) return { word: `avoided until ${clock(brokenUntil)}`, tone: 'bad', mark: 'refuse' };
  return STATES[state] ?? { word: visible(state), tone: 'done', mark: 'task' };
}
