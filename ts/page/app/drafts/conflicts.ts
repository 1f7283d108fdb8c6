import type { PageDraft, PageDraftChanges } from '../../wire.ts';
import type { Context } from '../base/context.ts';
import { arrange, attribute, button, h, show, text } from '../base/dom.ts';
import { count } from '../base/format.ts';
import { within } from '../detail/changes.ts';
import { loadFile } from './sides.ts';
import { reasonOf } from './words.ts';

/** Number of conflicts up to which both sides are open at first. */
const OPEN = 2;

/** The paths that were changed outside of a draft as well, each with its two sides. */
export class ConflictList {
  readonly element: HTMLElement;
  readonly #context: Context;
  readonly #items = new Map<string, HTMLElement>();
  readonly #list = h('ul', { class: 'conflicts' });
  readonly #rest = h('p', { class: 'say' });
  readonly #skip: HTMLButtonElement;

  /** `skip` commits the rest of the draft. */
  constructor(context: Context, skip: () => void) {
    this.#context = context;
    this.#skip = button('Commit without these', skip, { class: 'btn' });
    const why = 'Changed in this draft, and since then in the project. They stop a commit.';
    const head = h(
      'div',
      { class: 'part-head' },
      h('h2', {}, 'Conflicts'),
      h('p', {}, why),
      h('span', { class: 'sp' }),
    );
    head.append(this.#skip);
    this.element = h('section', { class: 'part', 'aria-label': 'Conflicts' }, head, this.#list, this.#rest);
  }

  /** Focuses the button that commits the rest. */
  focus(): void {
    this.#skip.focus();
  }

  /** Forgets the draft that was shown. */
  clear(): void {
    this.#items.clear();
  }

  /** Shows the conflicts of a draft. */
  update(draft: PageDraft, { conflicts, moreConflicts, changes }: PageDraftChanges): void {
    const seen = new Set<string>();
    const items = conflicts.map(({ path, why }) => {
      // Both sides are read again once either has changed.
      const change = changes.find((one) => one.path === path);
      const key = JSON.stringify([path, why, change, draft.usedAt]);
      seen.add(key);
      const item = this.#items.get(key) ?? this.#itemOf(draft, path, why, conflicts.length <= OPEN);
      this.#items.set(key, item);
      return item;
    });
    for (const key of [...this.#items.keys()]) if (!seen.has(key)) this.#items.delete(key);
    arrange(this.#list, items);
    text(this.#rest, moreConflicts > 0 ? `And ${count(moreConflicts, 'more path')}.` : '');
    show(this.#rest, moreConflicts > 0);
    show(this.#skip, this.#context.store.welcome.control);
    show(this.element, conflicts.length > 0);
  }

  #itemOf({ id, root }: PageDraft, path: string, why: string, isOpen: boolean): HTMLElement {
    const { home } = this.#context.store.welcome;
    const below = h('div');
    const toggle = button(h('code', {}, within(path, root, home)), () => set(below.hidden), { class: 'toggle' });
    const set = (isShown: boolean) => {
      attribute(toggle, 'aria-expanded', String(isShown));
      show(below, isShown);
      if (isShown && !below.firstChild) {
        void loadFile(this.#context, id, path, 'sides').then((element) => below.replaceChildren(element));
      }
    };
    set(isOpen);
    return h('li', {}, toggle, h('span', { class: 'dim' }, reasonOf(why)), below);
  }
}
