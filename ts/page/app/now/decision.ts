import type { PageAsk } from '../../wire.ts';
import type { Context } from '../base/context.ts';
import { attribute, button, h } from '../base/dom.ts';
import { nameOf } from '../base/format.ts';

/** The field and the buttons with which a person approves or denies a command. */
export class Decision {
  readonly element: HTMLElement;
  readonly deny: HTMLButtonElement;
  readonly approve: HTMLButtonElement;
  readonly #context: Context;
  readonly #ask: PageAsk;
  #isSent = false;
  readonly #reason = h('input', { class: 'field', 'aria-label': 'Reason', autocomplete: 'off' });

  constructor(context: Context, ask: PageAsk, placeholder: string) {
    this.#context = context;
    this.#ask = ask;
    const name = ` ${nameOf(ask.command)}`;
    this.deny = button('Deny', () => void this.#answer(false), { class: 'btn' }, name);
    this.approve = button('Approve', () => void this.#answer(true), { class: 'btn' }, name);
    this.#reason.placeholder = placeholder;
    this.element = h('div', { class: 'act' }, this.#reason, this.deny, this.approve);
  }

  async #answer(approved: boolean): Promise<void> {
    if (this.#isSent) return;
    const { server, messages, store } = this.#context;
    const reason = this.#reason.value.trim();
    this.#mark(true);
    store.answered.add(this.#ask.id);
    try {
      await server.post('answer', { ask: this.#ask.id, approved, ...(reason && { reason }) });
      messages.say(`${approved ? 'Approved' : 'Denied'}: ${nameOf(this.#ask.command)}`);
    } catch (error) {
      store.answered.delete(this.#ask.id);
      messages.fail('This answer was not taken', error);
      this.#mark(false);
    }
  }

  /** A disabled button would lose the focus. */
  #mark(isSent: boolean): void {
    this.#isSent = isSent;
    for (const one of [this.deny, this.approve]) attribute(one, 'aria-disabled', isSent && 'true');
  }
}
