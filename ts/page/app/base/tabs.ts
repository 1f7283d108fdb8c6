import { attribute, h, show } from './dom.ts';

/** A view and its name. */
interface Tab {
  name: string;
  tab: HTMLElement;
  panel: HTMLElement;
}

/** The tabs of the views. Arrow keys move between them. */
export class Tabs {
  readonly list = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Views' });
  readonly #tabs: Tab[] = [];
  readonly #onSelect: (name: string) => void;
  selected = '';

  constructor(onSelect: (name: string) => void) {
    this.#onSelect = onSelect;
    this.list.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Adds a view and returns its panel. `badge` is shown in the tab but is not part of its accessible name. */
  add(name: string, badge: HTMLElement | null): HTMLElement {
    const id = name.toLowerCase();
    const tab = h(
      'button',
      {
        type: 'button',
        class: 'tab',
        role: 'tab',
        id: `tab-${id}`,
        'aria-controls': `panel-${id}`,
        'aria-label': name,
      },
      name,
      badge,
    );
    tab.addEventListener('click', () => this.select(name));
    const panel = h('div', { class: 'panel', role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}` });
    this.#tabs.push({ name, tab, panel });
    this.list.append(tab);
    return panel;
  }

  /** Offers a view or takes it away. The first view takes the place of a selected one that is taken away. */
  offer(name: string, on: boolean): void {
    const known = this.#tabs.find((one) => one.name === name);
    if (!known || known.tab.hidden === !on) return;
    show(known.tab, on);
    if (!on && this.selected === name) this.select(this.#tabs[0]?.name ?? '');
  }

  select(name: string): void {
    this.selected = name;
    for (const { name: one, tab, panel } of this.#tabs) {
      attribute(tab, 'aria-selected', String(one === name));
      attribute(tab, 'tabindex', one === name ? 0 : -1);
      show(panel, one === name);
    }
    this.#onSelect(name);
  }

  #key({ key }: KeyboardEvent): void {
    const tabs = this.#tabs.filter(({ tab }) => !tab.hidden);
    const at = tabs.findIndex(({ name }) => name === this.selected);
    const last = tabs.length - 1;
    const to = { ArrowLeft: at === 0 ? last : at - 1, ArrowRight: at === last ? 0 : at + 1, Home: 0, End: last }[key];
    if (to === undefined) return;
    const { name, tab } = tabs[to] as Tab;
    this.select(name);
    tab.focus();
  }
}
