import type { PageRun } from '../../wire.ts';
import type { Context } from '../base/context.ts';
import { button, fill, h, hidden, show } from '../base/dom.ts';
import { nameOf } from '../base/format.ts';

/** Keys of a terminal that a text field does not send. */
const KEYS: [label: string, name: string, text: string][] = [
  ['↑', 'Up', '\u001b[A'],
  ['↓', 'Down', '\u001b[B'],
  ['←', 'Left', '\u001b[D'],
  ['→', 'Right', '\u001b[C'],
  ['Space', '', ' '],
  ['Esc', '', '\u001b'],
  ['Tab', '', '\t'],
  ['Ctrl-C', '', '\u0003'],
  ['Ctrl-D', '', '\u0004'],
];

/** Prompts whose answers are hidden. */
const SECRET = /pass(word|phrase|code)|\bPIN\b|secret|token/i;

/** The field in which a person answers a question, or types into a terminal. */
export class AnswerForm {
  readonly element: HTMLFormElement;
  readonly field = h('input', {
    class: 'field',
    'aria-label': 'Answer',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
  });
  readonly #context: Context;
  readonly #about = hidden();
  readonly #keys: HTMLElement | null;
  #run: PageRun;

  /** `isLarge`: below the output, with the keys of a terminal. */
  constructor(context: Context, run: PageRun, isLarge: boolean) {
    this.#context = context;
    this.#run = run;
    this.#keys = isLarge ? this.#makeKeys() : null;
    this.field.placeholder = isLarge ? 'Answer, sent with Enter' : 'Answer';
    const send = h('button', { type: 'submit', class: isLarge ? 'btn btn-ink' : 'btn' }, 'Send', this.#about);
    this.element = h('form', { class: isLarge ? 'type' : 'act' }, this.field, send, this.#keys);
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit();
    });
    this.update(run);
  }

  update(run: PageRun): void {
    this.#run = run;
    const name = ` ${nameOf(run.command)}`;
    fill(this.#about, name, () => [name]);
    if (this.#keys) show(this.#keys, run.kind === 'terminal');
    this.field.classList.toggle('secret', SECRET.test(run.waiting?.text ?? ''));
  }

  #makeKeys(): HTMLElement {
    const keys = KEYS.map(([label, name, text]) => button(label, () => void this.#input(text), { class: 'btn' }, name));
    return h('div', { class: 'keys', role: 'group', 'aria-label': 'Keys' }, ...keys);
  }

  async #submit(): Promise<void> {
    const { value } = this.field;
    // A terminal expects the Enter key, and a pipe expects a line.
    if (await this.#input(`${value}${this.#run.kind === 'terminal' ? '\r' : '\n'}`)) {
      if (this.field.value === value) this.field.value = '';
    }
  }

  async #input(text: string): Promise<boolean> {
    try {
      await this.#context.server.post('input', { run: this.#run.id, text });
      return true;
    } catch (error) {
      this.#context.messages.fail('This was not sent', error);
      return false;
    }
  }
}
