import type { PageOutput, PageScreen } from '../../wire.ts';
import { fill, h, show, text } from '../base/dom.ts';
import { count, size } from '../base/format.ts';
import { lineElement, remarkElement } from './draw.ts';
import { LINES, Paper, type PaperLine } from './paper.ts';
import { screenElement } from './screen.ts';
import type { Search } from './search.ts';

/**
 * Output without a pause is a flood if it has more than so many lines per time in ms. Nobody can read it, so a log that
 * follows its end then shows only the last ones. The earlier ones are shown after a pause, and when a person scrolls or
 * searches.
 */
const FLOOD = { lines: 600, ms: 1_000, shown: 150, pauseMs: 1_000 };
/** Distance from the end, in pixels, below which the end is followed. */
const NEAR = 32;
/** Keys that scroll up. */
const UP = ['ArrowUp', 'PageUp', 'Home'];
/** The most characters per time in ms that screen readers announce: the last ones. Others are only counted. */
const SPOKEN = { characters: 600, ms: 2_000 };

/** The output of the chosen run: a log that follows until a person scrolls, or the screen of a terminal. */
export class LogView {
  readonly element = h('div', {
    class: 'log',
    role: 'log',
    'aria-label': 'Output',
    'aria-live': 'polite',
    tabindex: 0,
  });
  /** Says to screen readers how many lines were not announced. */
  readonly unspoken = h('p', { class: 'vh', role: 'status' });
  readonly #notice = h('p', { class: 'cut' });
  readonly #list = h('div', { class: 'lines' });
  // A program draws its screen again and again.
  readonly #screen = h('div', { class: 'screen', 'aria-live': 'off' });
  readonly #note = h('p', { class: 'term-note' });
  readonly #end = h('p', { class: 'end' });
  /** Called when the log stops or starts to follow its end, and when there are new lines below. */
  onFollow: (following: boolean, newLines: number) => void = () => {};
  search: Search | null = null;
  #paper = new Paper();
  #first = 1;
  #next = 1;
  #open: HTMLElement | null = null;
  #following = true;
  /** The last known place in pixels. */
  #top = 0;
  /** The last known width and height. */
  #size = '';
  /** Whether the output is a flood, by the lines of the last full time, and those since then. */
  #flood = { is: false, lines: 0, since: 0 };
  #pause = 0;
  /** The characters that may be announced until the end of the time, and the lines that were not. */
  #speech = { left: 0, lines: 0, timer: 0 };

  constructor() {
    this.element.append(this.#notice, this.#list, this.#screen, this.#note, this.#end);
    this.element.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    this.element.addEventListener('wheel', ({ deltaY }) => deltaY < 0 && this.#leave(), { passive: true });
    this.element.addEventListener('keydown', ({ key }) => UP.includes(key) && this.#leave());
    new ResizeObserver(() => this.#isResized()).observe(this.element);
    this.clear();
  }

  /** All kept lines that have ended. */
  get lines(): HTMLElement[] {
    this.#showEarlier();
    return ([...this.#list.children] as HTMLElement[]).filter((line) => line !== this.#open);
  }

  /** Whether the screen of a terminal is shown. */
  get isScreen(): boolean {
    return this.#screen.childElementCount > 0;
  }

  /** Removes everything before another run is shown. */
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
    this.#endSpeech();
    text(this.unspoken, '');
    this.search?.refresh();
  }

  /** Shows words in place of output, unless there is some. */
  notice(words: string): void {
    if (this.#paper.isEmpty && !this.isScreen) this.#say(words);
  }

  /** Shows words below the output. */
  note(words: string): void {
    text(this.#note, words);
    show(this.#note, words !== '');
  }

  /** Shows how the run ended; no words mean that it has not. */
  ended(words: (string | Node)[]): void {
    const key = words.map((word) => (typeof word === 'string' ? word : word.textContent)).join('');
    fill(this.#end, key, () => words);
    show(this.#end, words.length > 0);
    this.#toEnd();
  }

  output({ text: added, gap, start, end }: PageOutput): void {
    if (start) this.clear();
    this.#paper.add(added, gap);
    this.#awaitPause();
    if (this.#paper.isEmpty) this.#say(end ? 'It wrote nothing.' : 'No output yet.');
  }

  screen(screen: PageScreen): void {
    this.#say('');
    this.#list.replaceChildren();
    this.element.classList.add('terminal');
    screenElement(this.#screen, screen);
    this.#toEnd();
    this.onFollow(true, 0);
  }

  /** Shows what was added since the last call. */
  paint(): void {
    const { lines, next } = this.#paper;
    const from = this.#next;
    const kept = lines[0]?.number ?? next;
    this.#measure(next - this.#next);
    this.#awaitPause();
    const isFlood = this.#flood.is && !this.search?.isActive;
    // While a person reads, no lines above are removed. New lines wait below.
    if (this.#following) this.#drop(Math.max(kept, this.#first, isFlood ? next - FLOOD.shown : 0));
    const room = this.#following || this.#next >= kept ? 2 * LINES - this.#list.childElementCount : 0;
    const added = lines.filter(({ number }) => number >= this.#next).slice(0, Math.max(0, room));
    this.#open?.remove();
    const elements = added.map(elementOf);
    this.#next = (added.at(-1)?.number ?? this.#next - 1) + 1;
    this.#hush(elements, this.#next - from - added.length);
    this.#list.append(...elements);
    for (const element of elements) this.search?.added(element);
    this.#paintOpen();
    this.#sayWhatIsMissing();
    this.search?.update();
    this.#toEnd();
    this.onFollow(this.#following, this.#paper.next - this.#next);
  }

  /** Starts or stops to follow the end. */
  follow(following: boolean): void {
    const before = this.#following;
    this.#following = following;
    if (following && !before) {
      this.paint();
      this.search?.refresh();
    } else {
      if (before && !following) this.#showEarlier();
      this.onFollow(following, this.#paper.next - this.#next);
    }
  }

  /** Counts new lines. */
  #measure(lines: number): void {
    const now = performance.now();
    const { since, lines: before } = this.#flood;
    if (now - since > FLOOD.ms) this.#flood = { is: before > FLOOD.lines, lines: 0, since: now };
    this.#flood.lines += lines;
  }

  #awaitPause(): void {
    clearTimeout(this.#pause);
    this.#pause = window.setTimeout(() => {
      this.#flood = { is: false, lines: 0, since: 0 };
      this.#showEarlier();
    }, FLOOD.pauseMs);
  }

  /** Shows the kept lines that were passed over in a flood. What is in view stays where it is. */
  #showEarlier(): void {
    const earlier = this.#paper.lines.filter(({ number }) => number < this.#first);
    const [oldest] = earlier;
    if (!oldest) return;
    const { scrollHeight, scrollTop } = this.element;
    // The browser would keep the view, too, but not at the very top.
    this.element.style.overflowAnchor = 'none';
    const elements = earlier.map(elementOf);
    for (const element of elements) element.ariaLive = 'off';
    this.#list.prepend(...elements);
    this.#scrollTo(scrollTop + this.element.scrollHeight - scrollHeight);
    this.element.style.overflowAnchor = '';
    this.#first = oldest.number;
    this.#sayWhatIsMissing();
  }

  #sayWhatIsMissing(): void {
    if (!this.#paper.isEmpty) this.#say(this.#first > 1 ? `${count(this.#first - 1, 'earlier line')} not shown` : '');
  }

  #paintOpen(): void {
    const drawn = this.#next === this.#paper.next ? this.#paper.open : null;
    this.#open = drawn && lineElement(drawn, this.#paper.label);
    if (!this.#open) return;
    // It is announced when it is finished.
    this.#open.ariaLive = 'off';
    this.#list.append(this.#open);
  }

  /** Removes the lines that are no longer kept. */
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
    text(this.#notice, words);
    show(this.#notice, words !== '');
  }

  /**
   * Keeps screen readers from announcing more of these lines, which are about to be added, than they can speak.
   * `skipped` lines before them are not shown at all.
   */
  #hush(lines: readonly HTMLElement[], skipped: number): void {
    if (lines.length === 0) return;
    const speech = this.#speech;
    speech.lines += skipped;
    if (speech.timer === 0) {
      speech.left = SPOKEN.characters;
      speech.timer = window.setTimeout(() => this.#endSpeech(), SPOKEN.ms);
    }
    for (const line of lines.toReversed()) {
      speech.left -= (line.textContent ?? '').length;
      if (speech.left >= 0) continue;
      line.ariaLive = 'off';
      speech.lines += 1;
    }
  }

  #endSpeech(): void {
    const { lines, timer } = this.#speech;
    clearTimeout(timer);
    this.#speech = { left: 0, lines: 0, timer: 0 };
    text(this.unspoken, lines === 0 ? '' : count(lines, 'more line'));
  }

  /** Stops following before the first step of the scroll, which the next paint would take back. */
  #leave(): void {
    if (this.element.scrollTop > 0) this.#turn(false);
  }

  #scrolled(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    const moved = scrollTop - this.#top;
    this.#top = scrollTop;
    // A resize also moves the lines. That does not count as scrolling.
    if (this.#isResized()) return;
    const fromEnd = scrollHeight - scrollTop - clientHeight;
    // Without lines below, the browser has moved the view because something has become shorter.
    if (moved < 0 && fromEnd > 1) this.#turn(false);
    if (moved > 0 && fromEnd < NEAR && this.#next >= (this.#paper.lines[0]?.number ?? 0)) this.#turn(true);
  }

  #turn(following: boolean): void {
    if (following !== this.#following) this.follow(following);
  }

  /** Returns whether the size changed since the last call. If so, scrolls to the end if it is followed. */
  #isResized(): boolean {
    const size = `${this.element.clientWidth} ${this.element.clientHeight}`;
    const isResized = size !== this.#size;
    this.#size = size;
    if (isResized) this.#toEnd();
    return isResized;
  }

  /** Scrolls to the end if it is followed, and in a terminal to the line after the cursor. */
  #toEnd(): void {
    if (!this.#following) return;
    const { offsetTop, scrollHeight, clientHeight } = this.element;
    const row = this.#screen.querySelector('.cursor')?.parentElement;
    this.#scrollTo(row ? row.offsetTop - offsetTop + 2 * row.offsetHeight - clientHeight : scrollHeight);
  }

  #scrollTo(top: number): void {
    this.element.scrollTop = top;
    this.#top = this.element.scrollTop;
  }
}

function elementOf(line: PaperLine): HTMLElement {
  if ('drawn' in line) return lineElement(line.drawn, line.label);
  return remarkElement(h('b', {}, `Gap: ${size(line.gap)} did not reach this page.`));
}
