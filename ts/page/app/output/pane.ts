import type { PageEvents, PageRun } from '../../wire.ts';
import type { Context } from '../base/context.ts';
import { arrange, attribute, button, h, painter, show, text } from '../base/dom.ts';
import { count } from '../base/format.ts';
import { AnswerForm } from '../now/answer.ts';
import { LogView } from './log.ts';
import { Search } from './search.ts';

/** The output of the chosen run, with its search and the field for its input. */
export class OutputPane {
  readonly element: HTMLElement;
  readonly search: Search;
  readonly #context: Context;
  readonly #log = new LogView();
  readonly #paint: () => void;
  readonly #count = h('span', { class: 'count' });
  readonly #wrap: HTMLButtonElement;
  readonly #follow: HTMLButtonElement;
  readonly #newer: HTMLButtonElement;
  readonly #input = h('div');
  #answer: { run: string; form: AnswerForm } | null = null;
  #run: string | null = null;

  constructor(context: Context) {
    this.#context = context;
    this.search = new Search(
      () => this.#log.lines,
      () => this.#log.follow(false),
    );
    this.#log.search = this.search;
    this.#log.onFollow = (following, newLines) => this.#showFollow(following, newLines);
    this.#paint = painter(() => this.#log.paint());
    this.#wrap = button('Wrap', () => this.#setWrap(!this.#isWrapped), { class: 'btn btn-bare opt' });
    this.#follow = button('Follow', () => this.#log.follow(true), { class: 'btn btn-bare' });
    this.#newer = button(null, () => this.#log.follow(true), { class: 'btn newer' });
    const title = h('h2', { id: 'output' }, 'Output');
    const space = h('span', { class: 'sp' });
    const bar = h('div', { class: 'bar' }, title, this.search.element, this.#count, space, this.#wrap, this.#follow);
    const parts = [bar, this.#log.element, this.#log.unspoken, this.#newer, this.#input];
    this.element = h('section', { class: 'pane', 'aria-labelledby': 'output' }, ...parts);
    this.#setWrap(true);
  }

  /** Opens a run, whose output arrives by events, or none. */
  show(run: string | null): void {
    this.#run = run;
    this.#answer = null;
    this.#input.replaceChildren();
    this.#log.clear();
  }

  /** Shows the field for input if the run takes it. */
  update(run: PageRun, isOver: boolean): void {
    const takes = this.#context.store.welcome.control && !isOver && run.stdin;
    if (takes && this.#answer?.run !== run.id) {
      this.#answer = { run: run.id, form: new AnswerForm(this.#context, run, true) };
    }
    this.#answer?.form.update(run);
    const asks = run.waiting?.why === 'prompt' && run.kind !== 'terminal' ? run.waiting.text : '';
    const note = run.kind === 'terminal' ? 'What you type goes to the program. The agent sees it on the screen.' : asks;
    this.#log.note(takes || run.kind === 'terminal' ? note : '');
    arrange(this.#input, takes && this.#answer ? [this.#answer.form.element] : []);
  }

  /** Shows how the run ended; no words mean that it has not. */
  ended(words: (string | Node)[]): void {
    this.#log.ended(words);
  }

  output(data: PageEvents['output']): void {
    if (data.run !== this.#run) return;
    this.#log.output(data);
    this.#paint();
  }

  screen(data: PageEvents['screen']): void {
    if (data.run !== this.#run) return;
    this.#log.screen(data);
    text(this.#count, 'terminal, as the program draws it');
  }

  none({ run, why }: PageEvents['no-output']): void {
    if (run === this.#run) this.#log.notice(why);
  }

  focus(): void {
    this.#log.element.focus({ preventScroll: true });
  }

  get #isWrapped(): boolean {
    return !this.#log.element.classList.contains('long');
  }

  #setWrap(isWrapped: boolean): void {
    this.#log.element.classList.toggle('long', !isWrapped);
    attribute(this.#wrap, 'aria-pressed', String(isWrapped));
  }

  #showFollow(following: boolean, newLines: number): void {
    const isTerminal = this.#log.isScreen;
    attribute(this.#follow, 'aria-pressed', String(following));
    for (const one of [this.#follow, this.#wrap, this.search.element]) show(one, !isTerminal);
    show(this.#count, isTerminal);
    show(this.#newer, !isTerminal && !following && newLines > 0);
    text(this.#newer, `Follow: ${count(newLines, 'newer line')}`);
  }
}
