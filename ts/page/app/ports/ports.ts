import { visible } from '../../../core/visible.ts';
import { shortCommand } from '../base/command.ts';
import type { Context } from '../base/context.ts';
import { button, fill, h, show, text } from '../base/dom.ts';
import { age } from '../base/format.ts';
import { icon } from '../base/icon.ts';
import type { LiveRun } from '../base/store.ts';
import { stateOf } from '../now/row.ts';
import { isOpen, type Port, portLink } from './link.ts';

const COLUMNS = ['Port', 'Who can reach it', 'Command', 'Project', 'Agent', 'Open for'];
const CLASSES = ['w-port', 'w-addr', '', 'w-proj', 'w-who who', 'w-since r'];

/** The view Ports: the ports on which runs listen, as links. */
export class PortsView {
  readonly element: HTMLElement;
  readonly #context: Context;
  readonly #rows = h('tbody');
  readonly #table: HTMLElement;
  readonly #empty: HTMLElement;
  #times: { element: HTMLElement; since: number }[] = [];

  constructor(context: Context) {
    this.#context = context;
    const heads = COLUMNS.map((name, index) => h('th', { scope: 'col', class: CLASSES[index] }, name));
    const head = h('thead', {}, h('tr', {}, ...heads));
    const table = h('table', { class: 'grid' }, h('caption', { class: 'vh' }, 'Open ports'), head, this.#rows);
    this.#table = h('div', { class: 'tablewrap', role: 'region', 'aria-label': 'Ports', tabindex: 0 }, table);
    this.#empty = h(
      'div',
      { class: 'nothing' },
      h('h3', {}, 'No open ports'),
      h('p', {}, 'A port shows here when a command listens on it. To see one, run:'),
      h('p', { class: 'try' }, h('code', {}, "npx agent-bash run 'python3 -m http.server 8000 --bind 127.0.0.1'")),
    );
    this.element = h('div', { class: 'wide' }, h('h2', { class: 'vh' }, 'Ports'), this.#table, this.#empty);
  }

  update(): void {
    const served = servedBy(this.#context.store.live);
    // The rows keep their elements, and so the focus, while nothing changes.
    const key = JSON.stringify(served.map(({ live, port }) => [live.run.id, port, stateOf(live)]));
    fill(this.#rows, key, () => {
      this.#times = [];
      return served.map(({ live, port }) => this.#row(live, port));
    });
    show(this.#table, served.length > 0);
    show(this.#empty, served.length === 0);
    this.tick(Date.now());
  }

  tick(now: number): void {
    for (const { element, since } of this.#times) text(element, age(now - since));
  }

  #row(live: LiveRun, port: Port): HTMLElement {
    const { run } = live;
    const open = button(null, () => this.#context.chooseNow(run.id), { class: 'open cmd' });
    open.append(...shortCommand(run));
    const time = h('time');
    this.#times.push({ element: time, since: run.startedAt });
    const reach = isOpen(port) ? `${port.address}: open to the network` : `${port.address}: this machine only`;
    const cells: [string, Node | string][] = [
      ['', portLink(port)],
      ['s', h('span', { class: isOpen(port) ? 'state tone-ask' : 'state' }, isOpen(port) && icon('quiet'), reach)],
      ['c', open],
      ['p', visible(run.project.name)],
      ['who', visible(this.#context.store.agentOf(run))],
      ['r', time],
    ];
    const row = h('tr', { 'data-run': run.runId || run.id, 'data-state': stateOf(live) });
    row.append(...cells.map(([name, cell]) => h('td', { class: name }, cell)));
    return row;
  }
}

/** Returns the ports of the runs, sorted by number. */
export function servedBy(runs: LiveRun[]): { live: LiveRun; port: Port }[] {
  const served = runs.flatMap((live) => live.run.ports.map((port) => ({ live, port })));
  return served.sort((one, other) => one.port.port - other.port.port);
}
