import type { Context } from '../base/context.ts';
import { arrange, button, h, show, text } from '../base/dom.ts';
import { count } from '../base/format.ts';
import type { LiveRun } from '../base/store.ts';
import { GroupView, groupsOf } from './group.ts';
import { Needs } from './needs.ts';
import { RunRow } from './row.ts';

/** Number of runs above which each takes one line. */
const DENSE = 40;
/** Time in ms after input of a person in which rows keep their place. */
const STILL_MS = 2_000;
const TRY = "npx agent-bash run 'sleep 30'";

/** The view Now: the runs, and above them what needs a person. */
export class NowView {
  /** The list, beside which the chosen run is shown. */
  readonly element = h('div', { class: 'list' });
  readonly #context: Context;
  readonly #needs: Needs;
  readonly #rows = new Map<string, RunRow>();
  readonly #groups = new Map<string, GroupView>();
  readonly #groupList = h('div');
  readonly #runs: HTMLElement;
  readonly #empty: HTMLElement;
  readonly #last = h('p');
  #movedAt = 0;

  constructor(context: Context) {
    this.#context = context;
    this.#needs = new Needs(context);
    const heads = ['CPU', 'Memory', 'Age'].map((name, index) =>
      h('span', { class: ['cpu', 'mem', ''][index] ?? '' }, name),
    );
    const head = h(
      'div',
      { class: 'eyebrow' },
      h('h2', { id: 'now' }, 'Now'),
      h('span', { class: 'sp' }),
      h('span', { class: 'nums' }, ...heads),
    );
    this.#empty = this.#nothing();
    this.#runs = h('section', { 'aria-labelledby': 'now' }, head, this.#groupList, this.#empty);
    this.element.append(this.#needs.element, this.#runs);
    for (const event of ['pointermove', 'wheel', 'keydown', 'touchmove']) {
      this.element.addEventListener(event, () => (this.#movedAt = Date.now()), { passive: true });
    }
  }

  /** Focuses the button that opens a run or a question. */
  focus(id: string): void {
    const row =
      this.#rows.get(id)?.open ?? this.element.querySelector<HTMLElement>(`[data-run="${CSS.escape(id)}"] .open`);
    row?.focus();
  }

  update(): void {
    const { store } = this.#context;
    const anchor = this.element.querySelector('.run:hover, .run:focus-within');
    const top = anchor?.getBoundingClientRect().top ?? 0;
    this.#needs.update();
    const runs = [...store.runs.values()];
    for (const id of [...this.#rows.keys()]) if (!store.runs.has(id)) this.#rows.delete(id);
    const groups = groupsOf(runs, store);
    const isStill = anchor !== null || Date.now() - this.#movedAt < STILL_MS;
    const elements = groups.map((group) => {
      const view = this.#groups.get(group.key) ?? new GroupView(this.#context, group);
      this.#groups.set(group.key, view);
      view.update(group, (live) => this.#rowOf(live), isStill);
      return view.element;
    });
    const keys = new Set(groups.map(({ key }) => key));
    for (const key of [...this.#groups.keys()]) if (!keys.has(key)) this.#groups.delete(key);
    arrange(this.#groupList, elements);
    this.element.classList.toggle('dense', store.live.length > DENSE);
    this.#updateEmpty(runs);
    // The row under the pointer or focus keeps its place on the screen.
    if (anchor?.isConnected) this.element.scrollTop += anchor.getBoundingClientRect().top - top;
  }

  tick(now: number): void {
    this.#needs.tick(now);
    for (const row of this.#rows.values()) row.tick(now);
  }

  #rowOf(live: LiveRun): RunRow {
    const known = this.#rows.get(live.run.id);
    if (known) {
      known.update(live);
      return known;
    }
    const made = new RunRow(this.#context, live);
    this.#rows.set(live.run.id, made);
    return made;
  }

  #nothing(): HTMLElement {
    const copy = button('Copy', () => void navigator.clipboard.writeText(TRY), { class: 'btn' }, ` ${TRY}`);
    return h(
      'div',
      { class: 'nothing' },
      h('h3', {}, 'Nothing runs'),
      h('p', {}, 'A command shows here as soon as a program of yours starts one through agent-bash. To see one, run:'),
      h('p', { class: 'try' }, h('code', {}, TRY), copy),
      this.#last,
    );
  }

  #updateEmpty(runs: LiveRun[]): void {
    const { store } = this.#context;
    show(this.#empty, store.isFilled && store.live.length === 0 && store.asks.size === 0 && runs.length === 0);
    const hosts = store.hosts.length;
    text(
      this.#last,
      hosts === 0 ? 'No program is connected.' : `${count(hosts, 'program')} connected, without a command.`,
    );
  }
}
