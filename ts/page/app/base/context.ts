import { h, text } from './dom.ts';
import type { Server } from './server.ts';
import type { Store } from './store.ts';

/** The parts that all views share. */
export interface Context {
  server: Server;
  store: Store;
  /** Opens a run of the present view, or closes the one that is open. */
  choose(id: string | null): void;
  /** Shows everything anew before the next frame. */
  changed(): void;
  messages: Messages;
}

/** Time in ms for which a message stays. */
const STAYS_MS = 10_000;

/** Short messages about what a person did. */
export class Messages {
  readonly element = h('div', { class: 'messages' });
  readonly #said = h('p', { role: 'status' });
  readonly #failed = h('p', { role: 'alert' });
  #timer = 0;

  constructor() {
    this.element.append(this.#said, this.#failed);
  }

  /** Says what was done. */
  say(words: string): void {
    this.#show(this.#said, words);
  }

  /** Says what could not be done. */
  fail(what: string, error: unknown): void {
    this.#show(this.#failed, `${what}: ${error instanceof Error ? error.message : String(error)}`);
  }

  #show(element: HTMLElement, words: string): void {
    for (const one of [this.#said, this.#failed]) text(one, one === element ? words : '');
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#show(this.#said, ''), STAYS_MS);
  }
}
