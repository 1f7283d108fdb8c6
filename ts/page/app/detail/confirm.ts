import { button, h } from '../base/dom.ts';

/** A confirmation before an action that ends or changes much. */
export interface Question {
  title: string;
  text: string;
  items: Node[];
  /** The label of the button that confirms. */
  verb: string;
  /** The command, as a part of that button's accessible name. */
  about: string;
  /** The label of the button that cancels. */
  keep: string;
  isRed: boolean;
}

/** Asks for a confirmation inside the page. The button that cancels has the focus. */
export class Confirm {
  readonly element = h('div', {
    class: 'confirm',
    role: 'alertdialog',
    'aria-labelledby': 'confirm-title',
    hidden: true,
  });
  #before: Element | null = null;

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  ask({ title, text, items, verb, about, keep, isRed }: Question, act: () => void): void {
    this.#before = document.activeElement;
    const done = () => {
      this.close();
      act();
    };
    const go = button(verb, done, { class: isRed ? 'btn btn-red-full' : 'btn btn-ink' }, ` ${about}`);
    const stay = button(keep, () => this.close(), { class: 'btn' });
    const words = h('p', { id: 'confirm-title' }, h('b', {}, title), ` ${text}`);
    this.element.replaceChildren(words, h('ul', {}, ...items), h('p', { class: 'act' }, go, stay));
    this.element.hidden = false;
    this.element.onkeydown = (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      this.close();
    };
    stay.focus();
  }

  close(): void {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.element.replaceChildren();
    const before = this.#before instanceof HTMLElement && this.#before.checkVisibility() ? this.#before : null;
    const log = this.element.closest('.detail')?.querySelector<HTMLElement>('.log');
    (before ?? log)?.focus({ preventScroll: true });
  }
}
