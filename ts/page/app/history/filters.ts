import { visible } from '../../../core/visible.ts';
import type { PageHistory } from '../../wire.ts';
import { fill, h, show, text } from '../base/dom.ts';
import { count } from '../base/format.ts';

const HOUR = 3_600_000;
const TIMES: [label: string, ms: number][] = [
  ['Last 24 hours', 24 * HOUR],
  ['Last hour', HOUR],
  ['Last 7 days', 7 * 24 * HOUR],
  ['Everything kept: 90 days', 0],
];
/** Time in ms after the last input before the filters are applied. */
const SETTLES_MS = 250;

/** The filters of the history. */
export class Filters {
  readonly element: HTMLFormElement;
  readonly #text = input('Search', 'Search commands', 'field grow', 'search');
  readonly #project = h('select', { class: 'field', 'aria-label': 'Project' });
  readonly #agent = h('select', { class: 'field', 'aria-label': 'Agent' });
  readonly #target = h('select', { class: 'field', 'aria-label': 'Target' });
  readonly #since = h('select', { class: 'field', 'aria-label': 'Since' });
  readonly #changed = input('Changed', 'Changed path', 'field mid', 'text');
  readonly #failed = h('input', { type: 'checkbox' });
  readonly #count = h('span', { class: 'count', role: 'status' });
  #timer = 0;

  /** `changed` is called when a person has changed a filter and stopped typing. */
  constructor(changed: () => void) {
    this.#since.append(...TIMES.map(([label], index) => option(label, String(index))));
    this.options({ projects: [], agents: [], targets: [] });
    const failed = h('label', { class: 'check' }, this.#failed, 'Failed only');
    const selects = [this.#project, this.#agent, this.#target, this.#since];
    const fields = [this.#text, ...selects, this.#changed, failed, this.#count];
    this.element = h('form', { class: 'filters' }, ...fields);
    this.element.addEventListener('submit', (event) => event.preventDefault());
    this.element.addEventListener('input', () => {
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(changed, SETTLES_MS);
    });
  }

  /** Whether any filter other than the time is set. */
  get isSet(): boolean {
    const { since: _, ...others } = this.query;
    return Object.keys(others).length > 0;
  }

  /** The filters as parameters of a request. */
  get query(): Record<string, string> {
    const query: Record<string, string> = {};
    const set = (name: string, value: string) => {
      if (value !== '') query[name] = value;
    };
    set('text', this.#text.value);
    set('cwd', this.#project.value);
    set('agent', this.#agent.value);
    set('target', this.#target.value);
    set('changed', this.#changed.value.trim());
    const [, ms = 0] = TIMES[Number(this.#since.value)] ?? [];
    if (ms > 0) query.since = String(Date.now() - ms);
    if (this.#failed.checked) query.failed = 'true';
    return query;
  }

  /** Offers these projects, agents and targets, and the chosen ones. Without a target there is nothing to choose. */
  options({ projects, agents, targets }: Pick<PageHistory, 'projects' | 'agents' | 'targets'>): void {
    const chosen = this.#project.value;
    const known = projects.map(({ path, name }): [string, string] => [path, visible(name)]);
    offer(this.#project, 'All projects', known, chosen, visible(chosen.split('/').at(-1) ?? ''));
    offerNames(this.#agent, 'All agents', agents);
    offerNames(this.#target, 'All machines', targets);
    show(this.#target, this.#target.options.length > 1);
  }

  /** Shows how many runs match. */
  found({ runs, more }: PageHistory): void {
    text(this.#count, more ? `more than ${count(runs, 'run')}` : count(runs, 'run'));
  }

  focus(): void {
    this.#text.focus();
  }
}

function offerNames(select: HTMLSelectElement, all: string, names: string[]): void {
  const chosen = select.value;
  const options = names.map((name): [string, string] => [name, visible(name)]);
  offer(select, all, options, chosen, visible(chosen));
}

function offer(
  select: HTMLSelectElement,
  all: string,
  options: [string, string][],
  chosen: string,
  words: string,
): void {
  const known =
    chosen === '' || options.some(([value]) => value === chosen) ? options : [[chosen, words] as const, ...options];
  fill(select, JSON.stringify(known), () => [option(all, ''), ...known.map(([value, label]) => option(label, value))]);
  select.value = chosen;
}

function input(name: string, placeholder: string, kind: string, type: string): HTMLInputElement {
  return h('input', {
    type,
    class: kind,
    placeholder,
    'aria-label': name,
    autocomplete: 'off',
    spellcheck: 'false',
    autocapitalize: 'off',
  });
}

function option(label: string, value: string): HTMLOptionElement {
  return h('option', { value }, label);
}
