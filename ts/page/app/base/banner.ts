import { h, show, text } from './dom.ts';
import type { Connection } from './server.ts';

/** Time in ms that a connection may take before it is worth a word. */
const PATIENCE_MS = 1_000;

const WORDS: Record<Connection, string> = {
  connecting: '',
  open: '',
  broken: 'The connection to agent-bash is broken. What you see may be old. Trying again …',
  'signed-out': '',
};

/** Says that the page is not connected. */
export class Banner {
  readonly element = h('p', { class: 'banner', role: 'status' });
  #timer = 0;

  constructor() {
    show(this.element, false);
  }

  set(connection: Connection): void {
    if (connection === 'connecting') return;
    clearTimeout(this.#timer);
    const say = () => {
      text(this.element, WORDS[connection]);
      show(this.element, WORDS[connection] !== '');
    };
    if (connection === 'broken') this.#timer = setTimeout(say, PATIENCE_MS);
    else say();
  }
}

/** What a tab shows that is not signed in. */
export function signedOut(): HTMLElement {
  return h(
    'main',
    { class: 'signed-out' },
    h('h1', {}, 'This tab is not signed in'),
    h('p', {}, 'A link to this page works once. Open the link that the program shows now:'),
    h('ul', {}, h('li', {}, h('code', {}, 'agent-bash ui'), ' prints one when it starts, and another on Enter.')),
  );
}
