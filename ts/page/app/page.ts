import type { PageEvents } from '../wire.ts';
import { Banner, signedOut } from './base/banner.ts';
import { type Context, Messages } from './base/context.ts';
import { arrange, attribute, button, fill, h, painter, show, text } from './base/dom.ts';
import { Focus } from './base/focus.ts';
import { nameOf, size } from './base/format.ts';
import { icon } from './base/icon.ts';
import { isTyped, KeyList } from './base/keys.ts';
import type { Connection, Server } from './base/server.ts';
import { Store } from './base/store.ts';
import { Tabs } from './base/tabs.ts';
import { capital } from './base/words.ts';
import { Detail, type Subject } from './detail/detail.ts';
import type { DraftDetail } from './drafts/detail.ts';
import { DraftsView } from './drafts/drafts.ts';
import { HistoryView } from './history/history.ts';
import { NowView } from './now/now.ts';
import { statedRun } from './now/row.ts';
import { PoolsView } from './pools/pools.ts';
import { PortsView, servedBy } from './ports/ports.ts';

type ViewName = 'Now' | 'History' | 'Drafts' | 'Ports' | 'Pools';

/** What a tab shows. A view that is not selected is not in the document. */
interface View {
  readonly element: HTMLElement;
  /** Shows the present state of the store. */
  update(): void;
  /** Called once per second. */
  tick?(now: number): void;
  /** Focuses the row of an item that was open. */
  focus?(id: string): void;
}

/** The whole page. */
export class Page {
  readonly #server: Server;
  readonly #store = new Store();
  readonly #context: Context;
  readonly #paint = painter(() => this.#update());
  readonly #root: HTMLElement;
  readonly #banner = new Banner();
  readonly #needs = h('span', { class: 'n n-ask', 'aria-hidden': 'true' });
  readonly #open = h('span', { class: 'n', 'aria-hidden': 'true' });
  readonly #drafted = h('span', { class: 'n', 'aria-hidden': 'true' });
  readonly #totals = h('p', { class: 'totals' });
  /** Says to screen readers what began to need a person. */
  readonly #call = h('p', { class: 'vh', role: 'status' });
  /** What needs a person, by id. */
  #known = new Map<string, string>();
  readonly #skip = button('Skip to the open command', () => this.#openDetail.focus(), { class: 'btn skip' });
  readonly #keys = new KeyList();
  readonly #tabs: Tabs;
  readonly #history: HistoryView;
  readonly #drafts: DraftsView;
  /** The views by name, in the order of their tabs. */
  readonly #views: Record<ViewName, View>;
  readonly #detail: Detail;
  /** The id of the open run or question of each view. */
  readonly #chosen: Record<ViewName, string | null> = {
    ...{ Now: null, History: null, Drafts: null },
    ...{ Ports: null, Pools: null },
  };
  #followed: string | null = null;
  #isLost = false;
  /** Whether a run has ended since the last update. */
  #ended = false;

  constructor(root: HTMLElement, server: Server) {
    this.#root = root;
    this.#server = server;
    this.#context = {
      server,
      store: this.#store,
      messages: new Messages(),
      choose: (id) => this.#choose(id),
      chooseNow: (id) => this.#chooseNow(id),
      stop: (id) => this.#stop(id),
      changed: this.#paint,
    };
    this.#history = new HistoryView(this.#context);
    this.#drafts = new DraftsView(this.#context);
    this.#views = {
      Now: new NowView(this.#context),
      History: this.#history,
      Drafts: this.#drafts,
      Ports: new PortsView(this.#context),
      Pools: new PoolsView(this.#context),
    };
    this.#detail = new Detail(this.#context);
    this.#tabs = new Tabs(() => this.#switched());
    server.onEvent = (name, data) => this.#event(name, data);
    server.onConnection = (connection) => this.#connection(connection);
    document.addEventListener('keydown', (event) => this.#key(event));
    setInterval(() => this.#tick(), 1_000);
  }

  /** Adds the page, empty at first, to the document. */
  start(): void {
    const badges: Partial<Record<ViewName, HTMLElement>> = {
      Now: this.#needs,
      Drafts: this.#drafted,
      Ports: this.#open,
    };
    const panels = this.#names.map((name) => this.#tabs.add(name, badges[name] ?? null));
    const keys = button('?', () => this.#keys.open(), { class: 'btn btn-bare keys-button', 'aria-label': 'Keys' });
    const head = h(
      'header',
      { class: 'top' },
      this.#skip,
      h('h1', { class: 'brand' }, 'agent-bash'),
      this.#tabs.list,
      this.#totals,
      keys,
    );
    const main = h('main', {}, ...panels);
    const { element: messages } = this.#context.messages;
    this.#root.replaceChildren(head, this.#banner.element, main, messages, this.#call, this.#keys.element);
    this.#tabs.select('Now');
  }

  get #names(): ViewName[] {
    return Object.keys(this.#views) as ViewName[];
  }

  get #view(): ViewName {
    return this.#tabs.selected as ViewName;
  }

  /** What shows the open item of the current view. */
  get #openDetail(): Detail | DraftDetail {
    return this.#view === 'Drafts' ? this.#drafts.detail : this.#detail;
  }

  #event<Name extends keyof PageEvents>(name: Name, data: PageEvents[Name]): void {
    if (name === 'output') this.#detail.pane.output(data as PageEvents['output']);
    else if (name === 'screen') this.#detail.pane.screen(data as PageEvents['screen']);
    else if (name === 'no-output') this.#detail.pane.none(data as PageEvents['no-output']);
    else {
      this.#store.apply(name as 'welcome' | 'state' | 'change', data as PageEvents['change']);
      // A new stream does not know the run that the last one followed.
      if (name === 'welcome') void this.#follow(this.#followed);
      if (name === 'change' && (data as PageEvents['change']).ended.length > 0) this.#ended = true;
    }
    this.#paint();
  }

  #connection(connection: Connection): void {
    if (connection === 'signed-out') this.#root.replaceChildren(signedOut());
    this.#banner.set(connection, (isLost) => {
      this.#isLost = isLost;
      this.#root.classList.toggle('stale', isLost);
      this.#paint();
    });
  }

  #switched(): void {
    if (this.#view === 'History') void this.#history.load();
    this.#detail.pane.search.label = this.#view === 'History' ? 'Search output' : 'Search';
    this.#openSubject(this.#chosen[this.#view]);
    this.#update();
  }

  #chooseNow(id: string): void {
    this.#chosen.Now = id;
    this.#tabs.select('Now');
    this.#update();
    this.#openDetail.focus();
  }

  /** Opens a run or a question; `null` closes the open one and focuses its row. */
  #choose(id: string | null): void {
    const view = this.#view;
    const before = this.#chosen[view];
    this.#chosen[view] = id;
    this.#openSubject(id);
    this.#update();
    if (id !== null) {
      // A narrow page shows only the open item.
      if (this.#store.asks.has(id) || this.#isNarrow) this.#openDetail.focus();
    } else if (before !== null) this.#views[view].focus?.(before);
  }

  get #isNarrow(): boolean {
    return matchMedia('(max-width: 60rem)').matches;
  }

  #openSubject(id: string | null): void {
    this.#store.chosen = id;
    const isRun = this.#view !== 'Drafts' && id !== null && !this.#store.asks.has(id);
    void this.#follow(isRun ? id : null);
    this.#paint();
  }

  #stop(id: string): void {
    if (this.#store.chosen !== id) this.#choose(id);
    this.#detail.stop();
  }

  async #follow(run: string | null): Promise<void> {
    if (this.#followed === null && run === null) return;
    this.#followed = run;
    const { stream } = this.#store.welcome;
    if (stream === '') return;
    await this.#server.post('follow', { stream, run }).catch((error) => {
      if (run !== null && run === this.#followed) {
        this.#detail.pane.none({ run, why: `Its output cannot be followed: ${error.message}.` });
      }
    });
  }

  #tick(): void {
    this.#store.tick();
    const now = Date.now();
    this.#views[this.#view].tick?.(now);
    this.#detail.tick(now);
    this.#paint();
  }

  #update(): void {
    const focus = new Focus();
    this.#updateParts();
    focus.keep(() => this.#openDetail.focus(), this.#tabs.list);
  }

  #updateParts(): void {
    this.#updateHead();
    if (this.#ended && this.#view === 'History') this.#history.refresh();
    this.#ended = false;
    this.#views[this.#view].update();
    this.#detail.update(this.#subject());
    this.#arrange();
  }

  /** Returns the open item of the current view. */
  #subject(): Subject | null {
    const id = this.#chosen[this.#view];
    if (id === null || this.#view === 'Drafts') return null;
    const { runs, asks } = this.#store;
    const live = runs.get(id) ?? [...runs.values()].find(({ run }) => run.runId === id) ?? null;
    const ask = asks.get(id) ?? null;
    const entry = this.#view === 'History' ? this.#history.entry(id) : null;
    return live || ask || entry ? { id, live, ask, entry } : this.#gone(id);
  }

  /** Closes an item that no longer exists. A task that outlives its host is opened under its new id instead. */
  #gone(id: string): Subject | null {
    const wasOpen = this.#detail.id === id;
    const task = wasOpen ? this.#detail.taskId : null;
    const live = task === null ? undefined : this.#store.live.find(({ run }) => run.taskId === task);
    const next = live?.run.id ?? null;
    this.#chosen[this.#view] = next;
    this.#openSubject(next);
    if (next !== null && live) return { id: next, live, ask: null, entry: null };
    const isElsewhere = wasOpen && this.#detail.isQuestion && !this.#store.answered.has(id);
    if (isElsewhere) this.#context.messages.say('This question was answered elsewhere, or withdrawn.');
    return null;
  }

  /** Keeps only the elements of the selected view in the document, so that each run is there once. */
  #arrange(): void {
    const open = this.#chosen[this.#view] !== null;
    const { element } = this.#views[this.#view];
    const shown = open || this.#view === 'Now' ? [element, this.#openDetail.element] : [element];
    for (const name of this.#names) {
      const panel = document.getElementById(`panel-${name.toLowerCase()}`);
      if (!panel) continue;
      panel.classList.toggle('opened', open && name === this.#view);
      arrange(panel, name === this.#view ? shown : []);
    }
  }

  #updateHead(): void {
    const { live, asks, waiting, pools, welcome, isFilled } = this.#store;
    this.#tabs.offer('Pools', pools.size > 0);
    const needs = asks.size + waiting.length;
    const ports = servedBy(live).length;
    attribute(this.#needs, 'data-n', needs);
    show(this.#needs, needs > 0);
    attribute(this.#open, 'data-n', ports);
    show(this.#open, ports > 0);
    attribute(this.#drafted, 'data-n', this.#store.drafts.length);
    show(this.#drafted, this.#store.drafts.length > 0);
    show(this.#skip, this.#view === 'Now' && this.#chosen.Now !== null);
    this.#sayNeeds();
    document.title = `${needs > 0 ? `(${needs}) ` : ''}agent-bash`;
    if (!isFilled) return;
    this.#banner.readOnly(!welcome.control);
    const parts = this.#numbers();
    const key = JSON.stringify([parts, welcome.control, this.#isLost]);
    fill(this.#totals, key, () => [
      ...parts.map(([number, word]) => h('span', { class: 'opt' }, h('b', {}, number), word && ` ${word}`)),
      !welcome.control && h('span', { class: 'mode' }, 'read-only'),
      h(
        'span',
        { class: this.#isLost ? 'link off' : 'link' },
        icon(this.#isLost ? 'stop' : 'run'),
        this.#isLost ? 'Not connected' : 'Live',
      ),
    ]);
  }

  #sayNeeds(): void {
    const { asks, waiting } = this.#store;
    const needs = new Map([...asks.values()].map(({ id, command }) => [id, `Approval, ${nameOf(command)}`]));
    for (const live of waiting) needs.set(live.run.id, `${capital(statedRun(live).word)}, ${nameOf(live.run.command)}`);
    const added = [...needs].filter(([id, words]) => this.#known.get(id) !== words).map(([, words]) => words);
    this.#known = needs;
    if (added.length > 0) text(this.#call, `Needs you: ${added.join('. ')}`);
  }

  /** Returns the totals of all live runs. */
  #numbers(): [number: string, word: string][] {
    const { live } = this.#store;
    if (live.length === 0) return [];
    const agents = new Set(live.map(({ run }) => `${this.#store.starterOf(run)} ${this.#store.agentOf(run)}`)).size;
    const cores = live.reduce((sum, { cpu }) => sum + (cpu ?? 0), 0);
    const memory = live.reduce((sum, { run }) => sum + (run.memory ?? 0), 0);
    return [
      [String(agents), agents === 1 ? 'agent' : 'agents'],
      [String(live.length), 'running'],
      [cores.toFixed(1), 'cores'],
      [size(memory), ''],
    ];
  }

  #key(event: KeyboardEvent): void {
    if (isTyped(event) || this.#keys.element.open) return;
    const cancel = event.key === 'Escape' ? () => this.#openDetail.cancel() : null;
    const act = this.#openDetail.isConfirming ? cancel : this.#actOf(event.key);
    if (!act) return;
    event.preventDefault();
    act();
  }

  #actOf(key: string): (() => void) | null {
    switch (key) {
      case 'j':
      case 'ArrowDown':
        return this.#mover(1, key);
      case 'k':
      case 'ArrowUp':
        return this.#mover(-1, key);
      case '/':
        return () => (this.#view === 'History' ? this.#history.filters : this.#detail.pane.search).focus();
      case 'Escape':
        return this.#chosen[this.#view] === null ? null : () => this.#choose(null);
      case 's':
        return () => this.#detail.stop();
      case 'u':
        return () => void this.#openDetail.undo();
      case 'a':
      case 'd':
        return () => this.#answer();
      case '?':
        return () => this.#keys.open();
      default:
        return null;
    }
  }

  /** Returns the function that moves the focus to another command; `null` if an arrow key has another use there. */
  #mover(step: number, key: string): (() => void) | null {
    const { activeElement } = document;
    const isElsewhere = activeElement?.closest('.log, [role=tablist], .tablewrap:focus');
    if (key.startsWith('Arrow') && isElsewhere) return null;
    const opens = [...this.#root.querySelectorAll<HTMLElement>('.list .open, .grid .open')];
    if (opens.length === 0) return null;
    const chosen = opens.findIndex((open) => open.getAttribute('aria-current') === 'true');
    const at = opens.includes(activeElement as HTMLElement) ? opens.indexOf(activeElement as HTMLElement) : chosen;
    const next = opens[Math.min(opens.length - 1, Math.max(0, at + step))];
    return () => next?.focus();
  }

  /** Focuses the answer to the open question, or to the first one. */
  #answer(): void {
    const [first] = this.#store.asks.keys();
    const { chosen, asks } = this.#store;
    const id = chosen !== null && asks.has(chosen) ? chosen : first;
    if (id === undefined) return;
    if (this.#view !== 'Now' || chosen !== id) this.#chooseNow(id);
    this.#detail.focusAnswer();
  }
}
