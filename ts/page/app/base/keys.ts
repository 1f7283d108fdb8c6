import { button, h } from './dom.ts';

/** The keys and what they do. */
export const KEYS: [keys: string, words: string][] = [
  ['j k ↓ ↑', 'the next or previous command'],
  ['Enter', 'open it'],
  ['Escape', 'close it'],
  ['/', 'search'],
  ['s', 'stop the open command'],
  ['a d', 'go to the answer of a question'],
  ['u', 'undo the open run, or the last commit of a draft'],
  ['?', 'this list'],
];

/** Returns whether a key is typed into a field, or pressed with a modifier. */
export function isTyped({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true;
  return target instanceof HTMLElement && target.matches('input, select, textarea');
}

/** The list of keys. */
export class KeyList {
  readonly element = h('dialog', { class: 'keys-list', 'aria-labelledby': 'keys-title' });

  constructor() {
    const rows = KEYS.map(([keys, words]) =>
      h('div', {}, h('dt', {}, ...keys.split(' ').map((key) => h('kbd', {}, key))), h('dd', {}, words)),
    );
    const close = button('Close', () => this.element.close(), { class: 'btn' });
    this.element.append(h('h2', { id: 'keys-title' }, 'Keys'), h('dl', {}, ...rows), close);
  }

  open(): void {
    if (!this.element.open) this.element.showModal();
  }
}
