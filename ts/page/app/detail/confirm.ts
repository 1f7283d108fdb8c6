import { button, h, isolate } from '../base/dom.ts';

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

/**
 * Asks for a confirmation inside the page. The button that cancels has the focus, which stays in the question until it
 * is answered and then returns.
 */
export class Confirm {
  readonly element = h('div', {
    class: 'confirm',
    role: 'alertdialog',
    'aria-modal': 'true',
    'aria-labelledby': 'confirm-title',
    'aria-describedby': 'confirm-items',
    hidden: true,
  });
  /** Called when the question opens and when it closes. */
  onToggle: (isOpen: boolean) => void = () => {};
  #before: Element | null = null;
  #release: () => void = () => {};

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  ask({ title, text, items, verb, about, keep, isRed }: Question, act: () => void): void {
    if (!this.isOpen) this.#before = document.activeElement;
    const done = () => {
      this.close();
      act();
    };
    const go = button(verb, done, { class: isRed ? 'btn btn-red-full' : 'btn btn-ink' }, ` ${about}`);
    const stay = button(keep, () => this.close(), { class: 'btn' });
    const words = h('p', { id: 'confirm-title' }, h('b', {}, title), ` ${text}`);
    this.element.replaceChildren(words, h('ul', { id: 'confirm-items' }, ...items), h('p', { class: 'act' }, go, stay));
    this.element.hidden = false;
    this.#release();
    this.#release = isolate(this.element);
    // The browser would go on outside of the page.
    this.element.onkeydown = (event) => {
      const [from, to] = event.shiftKey ? [go, stay] : [stay, go];
      if (event.key !== 'Tab' || event.target !== from) return;
      event.preventDefault();
      to.focus();
    };
    this.onToggle(true);
    stay.focus();
  }

  close(): void {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.element.replaceChildren();
    this.#release();
    this.onToggle(false);
    const detail = this.element.closest('.detail');
    const places = [this.#before, ...(detail?.querySelectorAll('.actions .btn, .log') ?? [])];
    const place = places.find((one) => one instanceof HTMLElement && one !== document.body && one.checkVisibility());
    (place as HTMLElement | undefined)?.focus({ preventScroll: true });
  }
}
