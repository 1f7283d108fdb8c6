import { button, h, show, text } from '../base/dom.ts';

/** The name of the highlight in the style sheet. */
const FOUND = 'found';
/** Most places that are highlighted. */
const PLACES = 5_000;

/** The search in the output, which marks the lines that contain a text and moves between them. */
export class Search {
  readonly element: HTMLElement;
  readonly #field = h('input', {
    type: 'search',
    class: 'field',
    'aria-label': 'Search',
    placeholder: 'Search',
    autocomplete: 'off',
  });
  readonly #status = h('span', { class: 'count', role: 'status' });
  readonly #steps: HTMLElement;
  readonly #lines: () => Iterable<HTMLElement>;
  readonly #leave: () => void;
  readonly #highlight = typeof Highlight === 'function' ? new Highlight() : null;
  #hits: HTMLElement[] = [];
  #current: HTMLElement | null = null;

  /** `lines` returns the lines that are shown. `leave` is called before a line is scrolled into view. */
  constructor(lines: () => Iterable<HTMLElement>, leave: () => void) {
    this.#lines = lines;
    this.#leave = leave;
    this.#steps = h(
      'span',
      { class: 'steps' },
      button('Previous', () => this.#go(-1), { class: 'btn btn-bare' }),
      button('Next', () => this.#go(1), { class: 'btn btn-bare' }),
    );
    this.element = h('form', { role: 'search', class: 'find' }, this.#field, this.#status, this.#steps);
    this.#field.addEventListener('input', () => this.refresh());
    this.element.addEventListener('submit', (event) => event.preventDefault());
    this.#field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.#go(event.shiftKey ? -1 : 1);
      if (event.key !== 'Escape' || this.#field.value === '') return;
      event.stopPropagation();
      this.clear();
    });
  }

  get #query(): string {
    return this.#field.value.toLowerCase();
  }

  /** Sets the accessible name of the field, which differs where another field is named Search. */
  set label(words: string) {
    this.#field.ariaLabel = words;
  }

  /** Whether a text is searched for. */
  get isActive(): boolean {
    return this.#query !== '';
  }

  focus(): void {
    this.#field.focus();
  }

  clear(): void {
    this.#field.value = '';
    this.refresh();
  }

  /** Searches all lines again. */
  refresh(): void {
    for (const hit of this.#hits) hit.classList.remove('hit', 'current');
    const current = this.#current;
    this.#hits = [];
    this.#current = null;
    this.#highlight?.clear();
    if (this.#highlight) CSS.highlights.set(FOUND, this.#highlight);
    if (this.isActive) for (const line of this.#lines()) this.added(line);
    if (current && this.#hits.includes(current)) {
      this.#current = current;
      current.classList.add('current');
    }
    this.update();
  }

  /** Searches a line that was added. */
  added(line: HTMLElement): void {
    const query = this.#query;
    if (query === '' || !line.textContent?.toLowerCase().includes(query)) return;
    line.classList.add('hit');
    this.#hits.push(line);
    if (this.#highlight && this.#highlight.size < PLACES) {
      for (const range of rangesOf(line, query)) this.#highlight.add(range);
    }
  }

  /** Forgets lines that are no longer shown, and shows how many lines contain the text. */
  update(): void {
    const gone = this.#hits.findIndex((hit) => hit.isConnected);
    if (gone !== 0) this.#hits.splice(0, gone < 0 ? this.#hits.length : gone);
    for (const range of this.#highlight ?? []) if (!range.startContainer.isConnected) this.#highlight?.delete(range);
    if (this.#current && !this.#current.isConnected) this.#current = null;
    const at = this.#current ? this.#hits.indexOf(this.#current) + 1 : 0;
    const total = this.#hits.length;
    const words =
      total === 0 ? 'no match' : at > 0 ? `${at} of ${total}` : `${total} ${total === 1 ? 'line' : 'lines'}`;
    text(this.#status, this.isActive ? words : '');
    show(this.#steps, total > 0);
  }

  #go(step: number): void {
    const total = this.#hits.length;
    if (total === 0) return;
    // The first step goes to the newest line.
    const from = this.#current ? this.#hits.indexOf(this.#current) : step > 0 ? -1 : total;
    const next = this.#hits[(from + step + total) % total] as HTMLElement;
    this.#current?.classList.remove('current');
    this.#current = next;
    this.#leave();
    next.classList.add('current');
    next.scrollIntoView({ block: 'center' });
    this.update();
  }
}

/** Returns the ranges of a text in a line. A range may span several nodes. */
function rangesOf(line: HTMLElement, query: string): StaticRange[] {
  const nodes: { node: Node; start: number }[] = [];
  const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  let whole = '';
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push({ node, start: whole.length });
    whole += node.nodeValue ?? '';
  }
  const lower = whole.toLowerCase();
  // Some characters get longer in lower case, which would shift the ranges.
  if (lower.length !== whole.length) return [];
  const ranges: StaticRange[] = [];
  for (let at = lower.indexOf(query); at >= 0 && ranges.length < 100; at = lower.indexOf(query, at + query.length)) {
    const [first, last] = [nodeAt(nodes, at), nodeAt(nodes, at + query.length - 1)];
    // A live range would move out of a line that is removed.
    ranges.push(
      new StaticRange({
        startContainer: first.node,
        startOffset: at - first.start,
        endContainer: last.node,
        endOffset: at + query.length - last.start,
      }),
    );
  }
  return ranges;
}

function nodeAt(nodes: { node: Node; start: number }[], at: number) {
  return nodes.findLast(({ start }) => start <= at) as { node: Node; start: number };
}
