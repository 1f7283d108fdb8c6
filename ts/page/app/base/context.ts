import { button, h, show, text } from './dom.ts';
import type { Server } from './server.ts';
import type { Store } from './store.ts';

/** The parts that all views share. */
export interface Context {
  server: Server;
  store: Store;
  /** Opens a run or a question of the current view; `null` closes the open one. */
  choose(id: string | null): void;
  /** Opens a run in the view Now. */
  chooseNow(id: string): void;
  /** Stops a run, after a confirmation if much would be lost. */
  stop(id: string): void;
  /** Updates the page before the next frame. */
  changed(): void;
  messages: Messages;
}

/** Shows the result of a person's last action, until the person closes it. */
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
