import { visible } from '../../../core/visible.ts';
import type { HistoryEntry, PageAsk, PageDetails, PageUndo } from '../../wire.ts';
import { commandNodes } from '../base/command.ts';
import type { Context } from '../base/context.ts';
import { arrange, attribute, button, fill, h, show, text } from '../base/dom.ts';
import { age, ago, clock, duration, nameOf, shortPath } from '../base/format.ts';
import { icon } from '../base/icon.ts';
import type { LiveRun } from '../base/store.ts';
import { capital, type Stated, statedEnd } from '../base/words.ts';
import { statedRun, stateOf } from '../now/row.ts';
import { stakesList } from '../now/stakes.ts';
import { OutputPane } from '../output/pane.ts';
import { portLink } from '../ports/link.ts';
import { Case } from './case.ts';
import { changesPart } from './changes.ts';
import { Confirm } from './confirm.ts';
import { deniedPart } from './denied.ts';
import { type Fact, factList, factsOfEntry, factsOfRun } from './facts.ts';
import { secretsPart } from './secrets.ts';
import { undoItems, undoText } from './undo.ts';

/** Age in ms from which Stop asks for a confirmation. */
const LONG_MS = 5 * 60_000;

/** The item that is open: a run of the view Now, a question, or a run of the ledger. */
export interface Subject {
  id: string;
  live: LiveRun | null;
  ask: PageAsk | null;
  entry: HistoryEntry | null;
}

/** The details of the open run or question. */
export class Detail {
  readonly element: HTMLElement;
  readonly pane: OutputPane;
  readonly #context: Context;
  readonly #badge = h('span', { class: 'badge' });
  readonly #since = h('span', { class: 'since' });
  readonly #actions = h('span', { class: 'actions' });
  readonly #command = h('h2', { class: 'head-cmd' });
  readonly #ports = h('dl', { class: 'facts ports' });
  readonly #facts = h('dl', { class: 'facts' });
  readonly #findings = h('div');
  readonly #confirm = new Confirm();
  readonly #parts = h('div');
  readonly #body: HTMLElement;
  readonly #empty = h('p', { class: 'choose' }, 'Choose a command to see its output.');
  #subject: Subject | null = null;
  /** The action that the open question is about. */
  #asked: 'stop' | 'undo' = 'stop';
  /** The run id of the last undo in this tab. */
  #undone: string | null = null;
  #case: { id: string; case: Case } | null = null;
  #details: PageDetails = { findings: [], entry: null };
  /** The run and the state for which the details were read. */
  #read = '';

  constructor(context: Context) {
    this.#context = context;
    this.pane = new OutputPane(context);
    const back = button('Back', () => context.choose(null), { class: 'btn btn-bare back' });
    const copy = button('Copy command', () => void this.#copy(), { class: 'btn btn-bare copy' });
    this.#confirm.onToggle = (isOpen) => show(this.#actions, !isOpen);
    const row = h(
      'div',
      { class: 'head-row' },
      back,
      this.#badge,
      this.#since,
      h('span', { class: 'sp' }),
      copy,
      this.#actions,
    );
    const parts = [row, this.#command, this.#ports, this.#facts, this.#findings, this.#confirm.element];
    this.#body = h('div', { class: 'body' }, h('header', { class: 'head' }, ...parts), this.#parts);
    this.element = h('article', { class: 'detail' }, this.#body, this.#empty);
    this.update(null);
  }

  /** The id of the open item; `null` if none is open. */
  get id(): string | null {
    return this.#subject?.id ?? null;
  }

  /** Whether a question is open. */
  get isQuestion(): boolean {
    return this.#case !== null;
  }

  /** Whether a question before an action is open. */
  get isConfirming(): boolean {
    return this.#confirm.isOpen;
  }

  /** The id of the open task; `null` if no task is open. */
  get taskId(): string | null {
    return this.#subject?.live?.run.taskId ?? null;
  }

  /** Shows the current state of the open item. */
  update(subject: Subject | null): void {
    const isOther = subject?.id !== this.#subject?.id;
    this.#subject = subject;
    show(this.#body, subject !== null);
    show(this.#empty, subject === null);
    if (isOther) this.#reset(subject);
    if (!subject) return;
    void this.#readDetails(subject);
    this.#updateHead(subject);
    this.#updateBody(subject);
    this.tick(Date.now());
  }

  tick(now: number): void {
    const { live = null, ask = null, entry = null } = this.#subject ?? {};
    const end = live?.end;
    const took = end ? (end.durationMs ?? end.endedAt - live.run.startedAt) : (entry?.durationMs ?? null);
    const tookWords = took === null ? '' : `, took ${duration(took)}`;
    if (end) text(this.#since, `${ago(now - end.endedAt)}${tookWords}`);
    else if (live) text(this.#since, age(now - live.run.startedAt));
    else if (ask) text(this.#since, age(now - ask.askedAt));
    else if (entry) text(this.#since, entry.endedAt === null ? '' : `${ago(now - entry.endedAt)}${tookWords}`);
  }

  /** Focuses the answer to a question, or the output of a run. */
  focus(): void {
    if (this.#case) this.#case.case.focus();
    else this.pane.focus();
  }

  /** Focuses the answer to a question. */
  focusAnswer(): void {
    this.#case?.case.focus();
  }

  /** Leaves the question before an action. */
  cancel(): void {
    this.#confirm.close();
  }

  /** Stops the open run, after a confirmation if much would be lost. */
  stop(): void {
    const live = this.#subject?.live;
    if (!live || live.end || !this.#context.store.welcome.control) return;
    const { run } = live;
    const isTask = run.kind === 'task';
    if (!isTask && run.kind !== 'terminal' && Date.now() - run.startedAt < LONG_MS) return void this.#stop(live);
    const many = run.processes === null ? 'Its processes get' : `Its ${run.processes} processes get`;
    const who = run.processes === 1 ? 'Its process gets' : many;
    const ports = run.ports.map(({ port }) => ` Port ${port} closes.`).join('');
    const question = {
      title: isTask ? 'Stop this task?' : 'Stop this command?',
      text: `${who} SIGTERM, and SIGKILL if that is not enough.${ports}`,
      items: [],
      verb: 'Stop',
      about: nameOf(run.command),
      keep: 'Keep it running',
      isRed: true,
    };
    this.#asked = 'stop';
    this.#confirm.ask(question, () => void this.#stop(live));
  }

  /** Undoes the open run after a confirmation that shows what an undo would do now. */
  async undo(): Promise<void> {
    const runId = this.#undoable();
    if (runId === null || !this.#context.store.welcome.control) return;
    const { server, store, messages } = this.#context;
    try {
      const forecast = await server.get<PageUndo>('forecast', { run: runId });
      if (this.#undoable() !== runId) return;
      const question = {
        title: 'Undo this run?',
        text: undoText(forecast),
        items: undoItems(forecast, store.welcome.home),
        verb: 'Undo',
        about: nameOf(this.#commandOf()),
        keep: 'Keep',
        isRed: false,
      };
      this.#asked = 'undo';
      this.#confirm.ask(question, () => void this.#undo(runId));
    } catch (error) {
      messages.fail('This run cannot be undone', error);
    }
  }

  #reset(subject: Subject | null): void {
    this.#confirm.close();
    this.#case = subject?.ask ? { id: subject.id, case: new Case(this.#context, subject.ask) } : null;
    this.#details = { findings: [], entry: null };
    this.#read = '';
    this.pane.show(subject?.ask ? null : (subject?.id ?? null));
  }

  #commandOf(): string {
    const { live, ask, entry } = this.#subject ?? {};
    return (live?.run ?? ask ?? entry)?.command ?? '';
  }

  /** Returns the run id of the open run if it can be undone. */
  #undoable(): string | null {
    const { live, entry } = this.#subject ?? {};
    if (live && (!live.end || this.#undone === live.run.runId)) return null;
    if (live) return live.end?.undo || this.#details.entry?.undo ? live.run.runId : null;
    return (this.#undone === entry?.runId ? null : entry?.undo) ? (entry as HistoryEntry).runId : null;
  }

  #updateHead(subject: Subject): void {
    const { live, ask, entry } = subject;
    const shown = live?.run ?? ask ?? entry;
    if (!shown) return;
    const { word, tone, mark } = statedOf(subject);
    const { store } = this.#context;
    const { home } = store.welcome;
    attribute(this.element, 'aria-label', nameOf(shown.command));
    this.#badge.className = `badge badge-${tone}`;
    fill(this.#badge, `${mark} ${word}`, () => [icon(mark), capital(word)]);
    const findings = this.#details.findings;
    show(this.#command, ask === null);
    fill(this.#command, JSON.stringify([shown.command, findings]), () => commandNodes(shown, findings));
    fill(this.#findings, JSON.stringify(findings), () => [findings.length > 0 && stakesList(findings)]);
    const ports = live && !live.end ? live.run.ports : [];
    fill(this.#ports, JSON.stringify(ports), () => factList(ports.map((port) => ['Port', portLink(port)])));
    show(this.#ports, ports.length > 0);
    const facts: Fact[] = live ? factsOfRun(live, store.agentOf(live.run), home) : [];
    const known = entry ?? this.#details.entry;
    if (known && (entry || live?.end)) facts.push(...factsOfEntry(known, live === null, known.project.name, home));
    if (ask)
      facts.push(
        ['Project', visible(ask.project.name)],
        ['Agent', store.agentOf(ask)],
        ['Directory', shortPath(ask.cwd, home)],
      );
    const key = JSON.stringify(facts.map(([name, value]) => [name, value instanceof Node ? value.textContent : value]));
    fill(this.#facts, key, () => factList(facts));
    this.#updateActions(live);
  }

  #updateActions(live: LiveRun | null): void {
    const { control } = this.#context.store.welcome;
    const action = !control ? '' : live && !live.end ? 'stop' : this.#undoable() ? 'undo' : '';
    // The run has ended, or was undone elsewhere.
    if (this.#confirm.isOpen && action !== this.#asked) this.#confirm.close();
    const name = ` ${nameOf(this.#commandOf())}`;
    fill(this.#actions, action + name, () => [
      action === 'stop' && button('Stop', () => this.stop(), { class: 'btn btn-red' }, name),
      action === 'undo' && button('Undo', () => void this.undo(), { class: 'btn' }, name),
    ]);
  }

  #updateBody({ live, entry }: Subject): void {
    const { home } = this.#context.store.welcome;
    if (this.#case) {
      this.#body.className = 'body';
      arrange(this.#parts, [this.#case.case.element]);
      this.#parts.className = 'rest';
      return;
    }
    const end = live?.end ?? null;
    const key = end ? `${live?.run.id} ${end.endedAt}` : '';
    if (this.#parts.dataset.key !== key || this.pane.element.parentElement !== this.#parts) {
      this.#parts.dataset.key = key;
      const parts =
        live && end
          ? [deniedPart(end), secretsPart(end), changesPart(live.run, end, home)].filter((part) => part !== null)
          : [];
      this.#body.classList.toggle('long', parts.length > 0);
      this.#parts.className = 'rest';
      arrange(this.#parts, [...parts, this.pane.element]);
    }
    if (live) this.pane.update(live.run, end !== null);
    this.pane.ended(endNodes(live, entry));
  }

  async #readDetails({ live, ask, entry }: Subject): Promise<void> {
    const runId = live?.run.runId ?? entry?.runId ?? '';
    const key = `${runId} ${live ? stateOf(live) : ''}`;
    if (ask || runId === '' || key === this.#read) return;
    this.#read = key;
    const details = await this.#context.server.get<PageDetails>('run', { run: runId }).catch(() => null);
    if (!details || this.#read !== key) return;
    this.#details = details;
    this.#context.changed();
  }

  async #copy(): Promise<void> {
    const { messages } = this.#context;
    try {
      await navigator.clipboard.writeText(this.#commandOf());
      messages.say('The command was copied, without its secrets.');
    } catch (error) {
      messages.fail('The command was not copied', error);
    }
  }

  async #stop({ run }: LiveRun): Promise<void> {
    const { server, messages } = this.#context;
    try {
      await server.post('stop', { run: run.id });
      messages.say(`Stopped: ${nameOf(run.command)}`);
    } catch (error) {
      messages.fail('This was not stopped', error);
    }
  }

  async #undo(runId: string): Promise<void> {
    const { server, messages } = this.#context;
    const name = nameOf(this.#commandOf());
    try {
      const { restored, removed, conflicts } = await server.post<PageUndo>('undo', { run: runId });
      const stays = conflicts.length > 0 ? `, ${conflicts.length} left as they are` : '';
      messages.say(`Undone: ${name} (${restored.length} restored, ${removed.length} removed${stays})`);
      const live = this.#subject?.live;
      this.#undone = runId;
      if (live?.end) live.end = { ...live.end, undo: null };
      this.#read = '';
      this.#context.changed();
    } catch (error) {
      messages.fail('It was not undone', error);
    }
  }
}

function statedOf({ live, ask, entry }: Subject): Stated {
  if (live) return statedRun(live);
  if (ask) return { word: 'asks for approval', tone: 'ask', mark: 'ask' };
  return statedEnd(entry as HistoryEntry);
}

/** Returns the words below the output that say how a run ended. */
function endNodes(live: LiveRun | null, entry: HistoryEntry | null): (string | Node)[] {
  const end = live?.end ?? entry;
  if (!end || end.endedAt === null) return [];
  const { word, tone } = statedEnd(end);
  const startedAt = live?.run.startedAt ?? entry?.startedAt ?? 0;
  if (end.state === 'lost') {
    const words = ` Its end was not seen; it was at ${clock(end.endedAt)} or before. The output may stop short.`;
    return [h('span', { class: 'bad' }, 'Lost.'), words];
  }
  const after = `after ${duration(end.durationMs ?? end.endedAt - startedAt)}`;
  return [tone === 'bad' ? h('span', { class: 'bad' }, capital(word)) : capital(word), ` ${after}`];
}
