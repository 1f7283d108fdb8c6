import { visible } from '../../../core/visible.ts';
import type { Context } from '../base/context.ts';
import { arrange, attribute, button, fill, h, show, text } from '../base/dom.ts';
import { age, shortPath, size } from '../base/format.ts';
import { icon } from '../base/icon.ts';
import { changedSigns } from '../base/signs.ts';
import { DraftDetail } from './detail.ts';
import { type KnownDraft, KnownDrafts } from './known.ts';
import { statedDraft, titleOf } from './words.ts';

const COLUMNS = ['Draft', 'State', 'Changes', 'Size', 'Directory', 'Age'];
const CLASSES = ['', 'w-state', 'w-chg', 'w-port r', 'w-dir dir', 'w-took r'];
const TRY = "npx agent-bash draft -- 'npm update'";

/** The row of a draft. */
class DraftRow {
  readonly element: HTMLElement;
  readonly open: HTMLButtonElement;
  readonly #context: Context;
  readonly #state = h('td', { class: 's' });
  readonly #changes = h('td', { class: 'chg' });
  readonly #size = h('td', { class: 'r' });
  readonly #directory = h('td', { class: 'dir' });
  readonly #time = h('time');

  constructor(context: Context, { draft: { id } }: KnownDraft) {
    this.#context = context;
    this.open = button(null, () => context.choose(id), { class: 'open' });
    const name = h('td', { class: 'c' }, this.open);
    const time = h('td', { class: 'r' }, this.#time);
    const cells = [name, this.#state, this.#changes, this.#size, this.#directory, time];
    this.element = h('tr', { 'data-draft': id }, ...cells);
  }

  update(known: KnownDraft): void {
    const { draft, end } = known;
    const { chosen, welcome } = this.#context.store;
    const { word, tone, mark } = statedDraft(known);
    const isChosen = draft.id === chosen;
    this.element.classList.toggle('chosen', isChosen);
    attribute(this.element, 'data-state', end ?? draft.state);
    attribute(this.open, 'aria-current', isChosen && 'true');
    text(this.open, titleOf(draft));
    fill(this.#state, word, () => [h('span', { class: `state tone-${tone}` }, icon(mark), word)]);
    fill(this.#changes, JSON.stringify([draft.counts, end]), () => [end === null && changedSigns(draft.counts)]);
    text(this.#size, end ? '' : size(draft.bytes));
    text(this.#directory, shortPath(draft.root, welcome.home));
    attribute(this.#directory, 'title', visible(draft.root));
  }

  tick(now: number, { draft }: KnownDraft): void {
    text(this.#time, age(now - draft.createdAt));
  }
}

/** The view Drafts: changes that have not happened yet. */
export class DraftsView {
  readonly element: HTMLElement;
  readonly detail: DraftDetail;
  readonly #context: Context;
  readonly #known = new KnownDrafts();
  readonly #rows = new Map<string, DraftRow>();
  readonly #body = h('tbody');
  readonly #table: HTMLElement;
  readonly #empty: HTMLElement;

  constructor(context: Context) {
    this.#context = context;
    this.detail = new DraftDetail(context);
    const heads = COLUMNS.map((name, index) => h('th', { scope: 'col', class: CLASSES[index] }, name));
    const caption = h('caption', { class: 'vh' }, 'Drafts, newest first');
    const table = h('table', { class: 'grid' }, caption, h('thead', {}, h('tr', {}, ...heads)), this.#body);
    this.#table = h('div', { class: 'tablewrap', role: 'region', 'aria-label': 'Drafts', tabindex: 0 }, table);
    this.#empty = h(
      'div',
      { class: 'nothing' },
      h('h3', {}, 'No drafts'),
      h('p', {}, 'A draft has the changes of commands that were not committed yet. To make one, run in a project:'),
      h('p', { class: 'try' }, h('code', {}, TRY)),
    );
    this.element = h('div', { class: 'wide' }, h('h2', { class: 'vh' }, 'Drafts'), this.#table, this.#empty);
  }

  update(): void {
    const { chosen, drafts, isFilled } = this.#context.store;
    this.#known.update(drafts, chosen);
    const all = this.#known.all;
    const ids = new Set(all.map(({ draft }) => draft.id));
    for (const id of [...this.#rows.keys()]) if (!ids.has(id)) this.#rows.delete(id);
    const rows = all.map((known) => {
      const row = this.#rows.get(known.draft.id) ?? new DraftRow(this.#context, known);
      this.#rows.set(known.draft.id, row);
      row.update(known);
      return row.element;
    });
    arrange(this.#body, rows);
    show(this.#table, all.length > 0);
    show(this.#empty, isFilled && all.length === 0);
    this.detail.update(this.#known.get(chosen));
    this.tick(Date.now());
  }

  tick(now: number): void {
    for (const known of this.#known.all) this.#rows.get(known.draft.id)?.tick(now, known);
    this.detail.tick(now);
  }

  /** Focuses the row of a draft. */
  focus(id: string): void {
    this.#rows.get(id)?.open.focus({ preventScroll: true });
  }
}
