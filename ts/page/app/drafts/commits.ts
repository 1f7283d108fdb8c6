import { arrange, button, h, show } from '../base/dom.ts';
import { clock } from '../base/format.ts';
import type { DoneCommit } from './known.ts';
import { committedWords } from './words.ts';

/** The commits of a draft that were made in this tab, each with Undo. */
export class CommitList {
  readonly element: HTMLElement;
  readonly #list = h('ul', { class: 'grant' });
  readonly #undo: (commit: DoneCommit) => void;
  readonly #items = new Map<string, HTMLElement>();

  constructor(undo: (commit: DoneCommit) => void) {
    this.#undo = undo;
    const why = 'A commit is a run: Undo takes it back.';
    const head = h('div', { class: 'part-head' }, h('h2', {}, 'Committed'), h('p', {}, why));
    this.element = h('section', { class: 'part', 'aria-label': 'Committed' }, head, this.#list);
  }

  /** Shows commits. Without `control` there is no Undo. */
  update(commits: readonly DoneCommit[], control: boolean): void {
    const items = commits.map((commit) => {
      const key = `${commit.undoId} ${commit.isUndone} ${control}`;
      const item = this.#items.get(key) ?? this.#itemOf(commit, control);
      this.#items.set(key, item);
      return item;
    });
    arrange(this.#list, items);
    show(this.element, items.length > 0);
  }

  #itemOf(commit: DoneCommit, control: boolean): HTMLElement {
    const words = `${committedWords(commit)}, at ${clock(commit.at)}`;
    const undo = () => this.#undo(commit);
    return h(
      'li',
      {},
      h('span', { class: 'what' }, words),
      commit.isUndone && h('span', { class: 'dim' }, 'Taken back.'),
      !commit.isUndone && control && button('Undo', undo, { class: 'btn' }, ` the commit of ${words}`),
    );
  }
}
