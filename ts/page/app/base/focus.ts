/** The element with the focus before an update, which may remove or hide it. */
export class Focus {
  readonly #element = document.activeElement;
  readonly #area = this.#element?.closest<HTMLElement>('.detail, .list') ?? null;
  /** The place of its run in the list. */
  readonly #at = this.#area?.matches('.list') ? opens().findIndex((open) => this.#row?.contains(open)) : 0;

  /** Moves a focus that was lost to the same place of the list, to what `detail` focuses, or else to the tab. */
  keep(detail: () => void, tabs: HTMLElement): void {
    const element = this.#element;
    if (!this.#area || (element?.isConnected && !element.closest('[hidden]'))) return;
    if (this.#area.matches('.detail') && this.#area.isConnected) detail();
    if (this.#isKept) return;
    const visible = opens().filter((open) => open.checkVisibility());
    visible[Math.min(Math.max(0, this.#at), visible.length - 1)]?.focus();
    if (!this.#isKept) tabs.querySelector<HTMLElement>('[aria-selected=true]')?.focus();
  }

  get #isKept(): boolean {
    const { activeElement } = document;
    return activeElement !== this.#element && activeElement !== document.body && activeElement !== null;
  }

  get #row(): Element | null {
    return this.#element?.closest('[data-run]') ?? null;
  }
}

/** Returns the buttons that open what is listed. */
function opens(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('.list .open')];
}
