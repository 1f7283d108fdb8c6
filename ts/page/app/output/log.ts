import type { PageOutput, PageScreen } from '../../wire.ts';
import { h, show } from '../base/dom.ts';
import { count, size } from '../base/format.ts';
import { lineElement } from './draw.ts';
import { LINES, Paper } from './paper.ts';
import { screenElement } from './screen.ts';
import type { Search } from './search.ts';

/** Distance from the end, in pixels, at which the end is followed. */
const NEAR = 32;
/** Characters in a time that a screen reader is given to say. Faster output is not read out. */
const SPOKEN = { characters: 600, ms: 2_000 };

/** The output of the chosen run: a log that follows until a person scrolls, or the screen of a terminal. */
export class LogView {
  readonly element = h('div', { class: 'log', role: 'log', 'aria-label': 'Output', tabindex: 0 });
  readonly #notice = h('div', { class: 'line remark' });
  readonly #list = h('div', { class: 'lines' });
  readonly #screen = h('div', { class: 'screen' });
  /** Called when it follows no longer, follows again, or has new lines below. */
  onFollow: (following: boolean, newLines: number) => void = () => {};
  search: Search | null = null;
  #paper = new Paper();
  #first = 0;
  #next = 0;
  #open: HTMLElement | null = null;
  #following = true;
  #spoken = { characters: 0, since: 0 };

  constructor() {
    this.element.append(this.#notice, this.#list, this.#screen);
    this.element.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => this.#toEnd()).observe(this.element);
  }

  /** The lines that are shown. */
  get lines(): HTMLElement[] {
    return [...this.#list.children] as HTMLElement[];
  }

  /** Empties it for another run. */
  clear(notice: string): void {
    this.#paper = new Paper();
    this.#list.replaceChildren();
    this.#screen.replaceChildren();
    this.#first = 0;
    this.#next = 0;
    this.#open = null;
    this.follow(true);
    this.#say(notice);
    this.search?.refresh();
  }

  /** Says something in the place of output that there is not. */
  notice(words: string): void {
    if (this.#paper.isEmpty && this.#screen.childElementCount === 0) this.#say(words);
    else {
      this.#paper.remark(words);
      this.paint();
    }
  }

  output({ text, gap, start, end }: PageOutput): void {
    if (start) this.clear('');
    this.#paper.add(text, gap, (bytes) => `— ${size(bytes)} are left out here —`);
    if (this.#paper.isEmpty) this.#say(end ? 'It wrote nothing.' : 'No output yet.');
  }

  screen(screen: PageScreen): void {
    this.#say('');
    this.#list.replaceChildren();
    this.#silence(true);
    screenElement(this.#screen, screen);
  }

  /** Shows what was added since the last call. */
  paint(): void {
    const { lines, next } = this.#paper;
    const first = lines[0]?.number ?? next;
    // Above the place that a person reads nothing moves: what is new waits below.
    if (this.#following) this.#drop(first);
    const room = this.#following || this.#next >= first ? 2 * LINES - this.#list.childElementCount : 0;
    const added = lines.filter(({ number }) => number >= this.#next).slice(0, Math.max(0, room));
    if (added.length > 0 || this.#following) this.#open?.remove();
    for (const { drawn, isRemark, number } of added) {
      const line = lineElement(drawn, isRemark);
      this.#list.append(line);
      this.search?.added(line);
      this.#next = number + 1;
    }
    this.#paintOpen();
    this.#speak(added.length);
    if (!this.#paper.isEmpty) this.#head(first);
    this.search?.update();
    this.#toEnd();
    this.onFollow(this.#following, this.#paper.next - this.#next);
  }

  /** Follows the end, or stays. */
  follow(following: boolean): void {
    const before = this.#following;
    this.#following = following;
    if (following && !before) {
      this.paint();
      this.search?.refresh();
    } else this.onFollow(following, this.#paper.next - this.#next);
  }

  #paintOpen(): void {
    const drawn = this.#next === this.#paper.next ? this.#paper.open : null;
    this.#open?.remove();
    this.#open = drawn && lineElement(drawn, false);
    if (this.#open) this.#list.append(this.#open);
  }

  /** Removes the lines that are not kept any more. */
  #drop(first: number): void {
    if (this.#next < first) {
      this.#list.replaceChildren();
      this.#next = first;
    } else {
      for (let number = this.#first; number < first; number++) this.#list.firstElementChild?.remove();
    }
    this.#first = first;
  }

  #head(first: number): void {
    const missing = this.#paper.missing;
    const parts = [
      first > 0 ? `${count(first, 'earlier line')} not shown` : '',
      missing > 0 ? `${size(missing)} left out` : '',
    ].filter(Boolean);
    this.#say(parts.length > 0 ? `… ${parts.join(', ')}` : '');
  }

  #say(words: string): void {
    if (this.#notice.textContent !== words) this.#notice.textContent = words;
    show(this.#notice, words !== '');
  }

  /** Output that is faster than speech is not read out, until it is slow again. */
  #speak(lines: number): void {
    const now = performance.now();
    if (now - this.#spoken.since > SPOKEN.ms) {
      this.#silence(this.#spoken.characters > SPOKEN.characters);
      this.#spoken = { characters: 0, since: now };
    }
    this.#spoken.characters += lines * 40;
    if (this.#spoken.characters > SPOKEN.characters) this.#silence(true);
  }

  #silence(isSilent: boolean): void {
    const live = isSilent ? 'off' : 'polite';
    if (this.element.ariaLive !== live) this.element.ariaLive = live;
  }

  #scrolled(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    const following =
      scrollHeight - scrollTop - clientHeight < NEAR && this.#next >= (this.#paper.lines[0]?.number ?? 0);
    if (following !== this.#following) this.follow(following);
  }

  #toEnd(): void {
    if (this.#following) this.element.scrollTop = this.element.scrollHeight;
  }
}
