import type { PageOutput, PageScreen } from '../../wire.ts';
import { fill, h, show } from '../base/dom.ts';
import { count, size } from '../base/format.ts';
import { lineElement, remarkElement } from './draw.ts';
import { LINES, Paper, type PaperLine } from './paper.ts';
import { screenElement } from './screen.ts';
import type { Search } from './search.ts';

/** Distance from the end, in pixels, at which the end is followed. */
const NEAR = 32;
/** Characters in a time that a screen reader is given to say. Faster output is not read out. */
const SPOKEN = { characters: 600, ms: 2_000 };

/** The output of the chosen run: a log that follows until a person scrolls, or the screen of a terminal. */
export class LogView {
  readonly element = h('div', { class: 'log', role: 'log', 'aria-label': 'Output', tabindex: 0 });
  readonly #notice = h('p', { class: 'cut' });
  readonly #list = h('div', { class: 'lines' });
  readonly #screen = h('div', { class: 'screen' });
  readonly #note = h('p', { class: 'term-note' });
  readonly #end = h('p', { class: 'end' });
  /** Called when it follows no longer, follows again, or has new lines below. */
  onFollow: (following: boolean, newLines: number) => void = () => {};
  search: Search | null = null;
  #paper = new Paper();
  #first = 1;
  #next = 1;
  #open: HTMLElement | null = null;
  #following = true;
  /** The width and height that are known. */
  #size = '';
  #spoken = { characters: 0, since: 0 };

  constructor() {
    this.element.append(this.#notice, this.#list, this.#screen, this.#note, this.#end);
    this.element.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => this.#isResized()).observe(this.element);
    this.clear();
  }

  /** The lines that are shown. */
  get lines(): HTMLElement[] {
    return [...this.#list.children] as HTMLElement[];
  }

  /** Whether it shows the screen of a terminal. */
  get isScreen(): boolean {
    return this.#screen.childElementCount > 0;
  }

  /** Empties it for another run. */
  clear(): void {
    this.#paper = new Paper();
    this.#list.replaceChildren();
    this.#screen.replaceChildren();
    this.#first = 1;
    this.#next = 1;
    this.#open = null;
    this.element.classList.remove('terminal');
    this.note('');
    this.ended([]);
    this.follow(true);
    this.#say('');
    this.search?.refresh();
  }

  /** Says something in the place of output that there is not. */
  notice(words: string): void {
    if (this.#paper.isEmpty && !this.isScreen) this.#say(words);
  }

  /** Says something below the output. */
  note(words: string): void {
    if (this.#note.textContent !== words) this.#note.textContent = words;
    show(this.#note, words !== '');
  }

  /** Says how the run has ended; nothing while it goes on. */
  ended(words: (string | Node)[]): void {
    const key = words.map((word) => (typeof word === 'string' ? word : word.textContent)).join('');
    fill(this.#end, key, () => words);
    show(this.#end, words.length > 0);
    this.#toEnd();
  }

  output({ text, gap, start, end }: PageOutput): void {
    if (start) this.clear();
    this.#paper.add(text, gap);
    if (this.#paper.isEmpty) this.#say(end ? 'It wrote nothing.' : 'No output yet.');
  }

  screen(screen: PageScreen): void {
    this.#say('');
    this.#list.replaceChildren();
    this.element.classList.add('terminal');
    this.#silence(true);
    screenElement(this.#screen, screen);
    this.onFollow(true, 0);
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
    for (const line of added) {
      const element = elementOf(line);
      this.#list.append(element);
      this.search?.added(element);
      this.#next = line.number + 1;
    }
    this.#paintOpen();
    this.#speak(added.length + (this.#open ? 1 : 0));
    if (!this.#paper.isEmpty) this.#say(first > 1 ? `${count(first - 1, 'earlier line')} not shown` : '');
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
    this.#open = drawn && lineElement(drawn, this.#paper.label);
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
    // A window that gets narrower wraps more lines: no person has scrolled.
    if (this.#isResized()) return;
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < NEAR;
    const following = isAtEnd && this.#next >= (this.#paper.lines[0]?.number ?? 0);
    if (following !== this.#following) this.follow(following);
  }

  /** Returns whether it has another size than at the last call, and goes to the end if that is followed. */
  #isResized(): boolean {
    const size = `${this.element.clientWidth} ${this.element.clientHeight}`;
    const isResized = size !== this.#size;
    this.#size = size;
    if (isResized) this.#toEnd();
    return isResized;
  }

  #toEnd(): void {
    if (this.#following) this.element.scrollTop = this.element.scrollHeight;
  }
}

function elementOf(line: PaperLine): HTMLElement {
  if ('drawn' in line) return lineElement(line.drawn, line.label);
  return remarkElement(h('b', {}, `Gap: ${size(line.gap)} did not reach this page.`));
}
