import { button, h, show, text } from './dom.ts';
import type { Server } from './server.ts';
import type { Store } from './store.ts';

/** The parts that all views share. */
export interface Context {
  server: Server;
  store: Store;
  /** Opens a run or a question of the present view, or closes the one that is open. */
  choose(id: string | null): void;
  /** Opens a run among those of now. */
  chooseNow(id: string): void;
  /** Stops a run, or asks first if much would be lost. */
  stop(id: string): void;
  /** Shows everything anew before the next frame. */
  changed(): void;
  messages: Messages;
}

/** The last result of an action of a person. It stays until the person closes it. */
export class Messages {
  readonly element: HTMLElement;
  readonly #said = h('p', { role: 'status' });
  readonly #failed = h('p', { role: 'alert' });
  readonly #close = button('Close', () => this.#show('', ''), { class: 'btn' });

  constructor() {
    this.element = h('div', { class: 'toast' }, this.#said, this.#failed, this.#close);
    this.#show('', '');
  }

  /** Says what was done. */
  say(words: string): void {
    this.#show(words, '');
  }

  /** Says what could not be done. */
  fail(what: string, error: unknown): void {
    this.#show('', `${what}: ${error instanceof Error ? error.message : String(error)}`);
  }

  #show(said: string, failed: string): void {
    text(this.#said, said);
    text(this.#failed, failed);
    this.element.classList.toggle('empty', said + failed === '');
    show(this.#close, said + failed !== '');
  }
}
