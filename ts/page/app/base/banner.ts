import { h, show } from './dom.ts';
import { clock } from './format.ts';
import type { Connection } from './server.ts';

/** Time in ms that a connection may be broken before the banner says so. */
const PATIENCE_MS = 1_000;

/** The banner, which says that the page is not connected or is read-only. */
export class Banner {
  readonly element = h('section', { 'aria-label': 'State of this page' });
  readonly #broken = h('p', { class: 'banner banner-red', role: 'alert' });
  readonly #readOnly = h('p', { class: 'banner banner-plain' });
  #timer = 0;

  constructor() {
    const how = h('code', {}, 'agent-bash ui --control');
    this.#readOnly.append(
      'This page is read-only: it shows everything and changes nothing. To stop, answer, approve and commit here, start it with ',
      how,
    );
    this.element.append(this.#readOnly, this.#broken);
    show(this.#broken, false);
    show(this.#readOnly, false);
  }

  /** Shows the state of the connection. `lost` receives whether the page may be out of date. */
  set(connection: Connection, lost: (isLost: boolean) => void): void {
    if (connection === 'connecting') return;
    if (connection === 'broken') {
      const since = Date.now();
      this.#timer ||= window.setTimeout(() => this.#say(since, lost), PATIENCE_MS);
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = 0;
    show(this.#broken, false);
    lost(false);
  }

  readOnly(isReadOnly: boolean): void {
    show(this.#readOnly, isReadOnly);
  }

  #say(since: number, lost: (isLost: boolean) => void): void {
    const ended = h('code', {}, 'agent-bash ui');
    const words = h(
      'span',
      {},
      'What you see is from then. If ',
      ended,
      ' has ended, start it again and open the address that it prints.',
    );
    if (this.#broken.hidden)
      this.#broken.replaceChildren(h('b', {}, `Not connected since ${clock(since)}.`), ' ', words);
    show(this.#broken, true);
    lost(true);
  }
}

/** Makes the content of a tab that is not signed in. */
export function signedOut(): HTMLElement {
  return h(
    'main',
    { class: 'fill' },
    h(
      'div',
      { class: 'nothing' },
      h('h1', {}, 'This tab is not signed in'),
      h(
        'p',
        {},
        'A link to this page works once, for one tab. Open a new one: ',
        h('code', {}, 'agent-bash ui'),
        ' prints one when it starts, and another when you press Enter there.',
      ),
    ),
  );
}
