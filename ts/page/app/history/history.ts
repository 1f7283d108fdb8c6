import type { HistoryEntry, PageHistory } from '../../wire.ts';
import type { Context } from '../base/context.ts';
import { attribute, button, h, show, text } from '../base/dom.ts';
import { day } from '../base/format.ts';
import { Chart } from './chart.ts';
import { entryRow } from './entry-row.ts';
import { Filters } from './filters.ts';

const COLUMNS = ['Time', 'State', 'Command', 'Project', 'Agent', 'Changed', 'Took'];
const CLASSES = ['w-time', 'w-state', '', 'w-proj', 'w-who who', 'w-chg', 'w-took r'];
/** Least time in ms between two loads that ended runs cause. */
const FRESH_MS = 1_000;
/** Runs that one load returns. */
const LOAD = 200;

/** The runs of this user in the ledger. */
export class HistoryView {
  readonly element: HTMLElement;
  readonly filters = new Filters(() => void this.load());
  readonly #context: Context;
  readonly #chart = new Chart();
  readonly #table = h('table', { class: 'grid' });
  readonly #older: HTMLButtonElement;
  readonly #empty = h('p', { class: 'choose' });
  #entries: HistoryEntry[] = [];
  #loads = 0;
  #loadedAt = 0;

  constructor(context: Context) {
    this.#context = context;
    this.#older = button('Older', () => void this.#loadOlder(), { class: 'btn older' });
    const heads = COLUMNS.map((name, index) => h('th', { scope: 'col', class: CLASSES[index] }, name));
    const caption = h('caption', { class: 'vh' }, 'Runs, newest first');
    this.#table.append(caption, h('thead', {}, h('tr', {}, ...heads)));
    const wrap = h(
      'div',
      { class: 'tablewrap', tabindex: 0, role: 'group', 'aria-label': 'Runs' },
      this.#table,
      this.#empty,
      this.#older,
    );
    const title = h('h2', { class: 'vh' }, 'History');
    const parts = [title, this.filters.element, this.#chart.element, wrap];
    this.element = h('section', { class: 'wide', 'aria-label': 'History' }, ...parts);
  }

  /** The run of the ledger with this id, if it is loaded. */
  entry(runId: string): HistoryEntry | null {
    return this.#entries.find((entry) => entry.runId === runId) ?? null;
  }

  /** Loads the newest runs. */
  async load(): Promise<void> {
    this.#loadedAt = Date.now();
    await this.#fetch(this.filters.query, ({ entries }) => entries);
  }

  /** Loads the newest runs again after a run has ended, unless the last load was just before. */
  refresh(): void {
    if (this.#entries.length <= LOAD && Date.now() - this.#loadedAt > FRESH_MS) void this.load();
  }

  update(): void {
    const { chosen } = this.#context.store;
    for (const row of this.#table.querySelectorAll('tr[data-run]')) {
      const isChosen = row.getAttribute('data-run') === chosen;
      row.classList.toggle('chosen', isChosen);
      const open = row.querySelector('button.open');
      if (open) attribute(open, 'aria-current', isChosen && 'true');
    }
  }

  /** Focuses the row of a run. */
  focus(runId: string): void {
    this.element.querySelector<HTMLElement>(`[data-run="${CSS.escape(runId)}"] .open`)?.focus({ preventScroll: true });
  }

  async #loadOlder(): Promise<void> {
    const last = this.#entries.at(-1);
    if (!last) return;
    // Runs that began in the same millisecond may be on both sides of the boundary.
    const query = { ...this.filters.query, until: String(last.startedAt + 1) };
    const known = new Set(this.#entries.map(({ runId }) => runId));
    await this.#fetch(query, ({ entries }) => [...this.#entries, ...entries.filter(({ runId }) => !known.has(runId))]);
  }

  async #fetch(query: Record<string, string>, join: (history: PageHistory) => HistoryEntry[]): Promise<void> {
    const load = ++this.#loads;
    try {
      const history = await this.#context.server.get<PageHistory>('history', query);
      // A later load may have other filters.
      if (load !== this.#loads) return;
      this.#entries = join(history);
      this.#show(history, query.until === undefined);
    } catch (error) {
      this.#context.messages.fail('The history was not read', error);
    }
  }

  #show(history: PageHistory, isNewest: boolean): void {
    const { activeElement } = document;
    const focused =
      this.#table.contains(activeElement) && activeElement?.closest('[data-run]')?.getAttribute('data-run');
    for (const body of this.#table.querySelectorAll('tbody')) body.remove();
    this.#table.append(...this.#days());
    if (focused && this.element.isConnected) this.focus(focused);
    if (isNewest) {
      this.#chart.update(history);
      this.filters.options(history);
      this.filters.found(history);
    }
    show(this.#older, history.runs > history.entries.length);
    show(this.#empty, this.#entries.length === 0);
    show(this.#chart.element, this.#entries.length > 0);
    text(this.#empty, this.filters.isSet ? 'No run fits these filters.' : 'No run is recorded in this time.');
    this.update();
    this.#context.changed();
  }

  /** Makes the rows, with one table body per day. */
  #days(): HTMLElement[] {
    const days = Map.groupBy(this.#entries, ({ startedAt }) => day(startedAt));
    return [...days].map(([name, entries]) => {
      const head = h('th', { scope: 'rowgroup', colspan: COLUMNS.length }, name);
      const rows = entries.map((entry) => entryRow(entry, () => this.#context.choose(entry.runId)));
      return h('tbody', {}, h('tr', { class: 'dayrow' }, head), ...rows);
    });
  }
}
