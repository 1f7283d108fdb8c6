import { visible } from '../../../core/visible.ts';
import type { PageAsk } from '../../wire.ts';
import { commandNodes } from '../base/command.ts';
import type { Context } from '../base/context.ts';
import { arrange, attribute, button, h, show, text } from '../base/dom.ts';
import { age, nameOf, oneLine } from '../base/format.ts';
import { icon, type Mark } from '../base/icon.ts';
import type { LiveRun } from '../base/store.ts';
import { AnswerForm } from './answer.ts';
import { Decision } from './decision.ts';
import { COVERS, otherReasons, stakesList } from './stakes.ts';

/** One thing that needs a person. */
interface Card {
  readonly element: HTMLElement;
  readonly open: HTMLButtonElement;
  tick(now: number): void;
  choose(isChosen: boolean): void;
}

function head(mark: Mark, title: string, who: string, time: HTMLElement): HTMLElement {
  return h('p', { class: 'ask-head' }, icon(mark), h('b', {}, title), ` ${visible(who)}`, time);
}

function whoIn(agent: string, project: string): string {
  return agent === '' ? `in ${project}` : `${agent} in ${project}`;
}

/** The card of a command that waits for approval. */
class AskCard implements Card {
  readonly element: HTMLElement;
  readonly open: HTMLButtonElement;
  readonly #ask: PageAsk;
  readonly #time = h('time');
  readonly #form: HTMLElement | null;

  constructor(context: Context, ask: PageAsk) {
    this.#ask = ask;
    const { store } = context;
    this.open = button(null, () => context.choose(ask.id), { class: 'open cmd cmd-3' });
    this.open.append(...commandNodes(ask, ask.findings));
    const stakes = stakesList(ask.findings, otherReasons(ask));
    if (ask.undo) stakes.append(h('li', { class: `cover cover-${ask.undo}` }, COVERS[ask.undo]));
    this.#form = store.welcome.control ? new Decision(context, ask, 'Reason, optional').element : null;
    this.element = h(
      'li',
      { class: 'ask', 'data-run': ask.id, 'data-state': 'asked' },
      head('ask', 'Approval', whoIn(store.agentOf(ask), ask.project.name), this.#time),
      this.open,
      stakes,
      this.#form,
    );
  }

  tick(now: number): void {
    text(this.#time, `waits ${age(now - this.#ask.askedAt)}`);
  }

  choose(isChosen: boolean): void {
    // The open question has the same buttons.
    if (this.#form) show(this.#form, !isChosen);
  }
}

const TITLES = {
  prompt: 'Question',
  input: 'Waits for input that nobody gives',
  stopped: 'Stopped by a signal',
} as const;

/** The card of a run that waits for a person. */
class WaitCard implements Card {
  readonly element: HTMLElement;
  readonly open: HTMLButtonElement;
  readonly #time = h('time');
  readonly #asks = h('p', { class: 'asks' });
  readonly #form: AnswerForm | null;
  readonly #act = h('div');
  /** The time at which this tab first saw the run wait. The host does not report it. */
  readonly #since = Date.now();

  constructor(context: Context, live: LiveRun) {
    const { run } = live;
    const { store } = context;
    const why = run.waiting?.why ?? 'prompt';
    this.open = button(null, () => context.choose(run.id), { class: 'open cmd cmd-3' });
    this.open.append(...commandNodes(run));
    this.#form = store.welcome.control && run.stdin && why !== 'stopped' ? new AnswerForm(context, run, false) : null;
    const mark = why === 'prompt' ? 'ask' : 'quiet';
    this.element = h(
      'li',
      { class: 'ask', 'data-run': run.runId || run.id, 'data-state': 'running', 'data-waits': why },
      head(mark, TITLES[why], whoIn(store.agentOf(run), run.project.name), this.#time),
      this.open,
      this.#asks,
      this.#act,
    );
    const stop = () => context.stop(run.id);
    if (this.#form) this.#act.append(this.#form.element);
    else if (store.welcome.control) {
      this.#act.className = 'act act-end';
      this.#act.append(button('Stop', stop, { class: 'btn btn-red' }, ` ${nameOf(run.command)}`));
    }
    this.update(live);
  }

  update({ run }: LiveRun): void {
    const { why, text: words = '' } = run.waiting ?? {};
    // The title already contains these words.
    text(this.#asks, oneLine(words).replace(/^waiting for input that nobody gives: /, ''));
    this.#asks.classList.toggle('note', why !== 'prompt');
    show(this.#asks, this.#asks.textContent !== '');
    this.#form?.update(run);
  }

  tick(now: number): void {
    text(this.#time, `waits ${age(now - this.#since)}`);
  }

  choose(isChosen: boolean): void {
    show(this.#act, !isChosen);
  }
}

/** The list of everything that needs a person: approvals first, then runs that wait. It is hidden if it is empty. */
export class Needs {
  readonly element: HTMLElement;
  readonly #context: Context;
  readonly #list = h('ul');
  readonly #number = h('span');
  readonly #asks = new Map<string, AskCard>();
  readonly #waits = new Map<string, WaitCard>();

  constructor(context: Context) {
    this.#context = context;
    const title = h('h2', { class: 'eyebrow', id: 'needs-you' }, 'Needs you');
    this.element = h(
      'section',
      { class: 'needs', 'aria-labelledby': 'needs-you' },
      h('div', { class: 'eyebrow' }, title, h('span', { class: 'sp' }), this.#number),
      this.#list,
    );
    show(this.element, false);
  }

  update(): void {
    const { asks, waiting, chosen } = this.#context.store;
    for (const id of [...this.#asks.keys()]) if (!asks.has(id)) this.#asks.delete(id);
    for (const ask of asks.values()) {
      if (!this.#asks.has(ask.id)) this.#asks.set(ask.id, new AskCard(this.#context, ask));
    }
    const waits = new Map(waiting.map((live) => [`${live.run.id} ${live.run.waiting?.why}`, live]));
    for (const key of [...this.#waits.keys()]) if (!waits.has(key)) this.#waits.delete(key);
    for (const [key, live] of waits) {
      const card = this.#waits.get(key);
      if (card) card.update(live);
      else this.#waits.set(key, new WaitCard(this.#context, live));
    }
    for (const [id, card] of this.#asks) mark(card, id === chosen);
    for (const [key, card] of this.#waits) mark(card, waits.get(key)?.run.id === chosen);
    const cards = this.#cards();
    arrange(
      this.#list,
      cards.map(({ element }) => element),
    );
    text(this.#number, String(cards.length));
    show(this.element, cards.length > 0);
    this.tick(Date.now());
  }

  tick(now: number): void {
    for (const card of this.#cards()) card.tick(now);
  }

  #cards(): Card[] {
    return [...this.#asks.values(), ...this.#waits.values()];
  }
}

function mark(card: Card, isChosen: boolean): void {
  card.element.classList.toggle('chosen', isChosen);
  attribute(card.open, 'aria-current', isChosen && 'true');
  card.choose(isChosen);
}
