import { visible } from '../../../core/visible.ts';
import type { PageCommit, PageDraftChanges, PageUndo } from '../../wire.ts';
import type { Context } from '../base/context.ts';
import { button, fill, h, show, text } from '../base/dom.ts';
import { ago, count, shortPath, size } from '../base/format.ts';
import { icon } from '../base/icon.ts';
import { capital } from '../base/words.ts';
import { Confirm } from '../detail/confirm.ts';
import { type Fact, factList } from '../detail/facts.ts';
import { undoItems, undoText } from '../detail/undo.ts';
import { CommitList } from './commits.ts';
import { ConflictList } from './conflicts.ts';
import { FileList } from './files.ts';
import type { DoneCommit, KnownDraft } from './known.ts';
import { committedWords, statedDraft, sumOf, titleOf, wordsAbout } from './words.ts';

/** Time in ms after which the changes are read again: a command may have written more of the same file. */
const FRESH_MS = 10_000;
/** Rest after a reading, as a multiple of its time. */
const REST = 20;

/** The open draft: its changes, its conflicts, and what can be done with it. */
export class DraftDetail {
  readonly element: HTMLElement;
  readonly #context: Context;
  readonly #badge = h('span', { class: 'badge' });
  readonly #since = h('span', { class: 'since' });
  readonly #actions = h('span', { class: 'actions' });
  readonly #title = h('h2', { class: 'head-title', tabindex: -1 });
  readonly #facts = h('dl', { class: 'facts' });
  readonly #say = h('p', { class: 'say' });
  readonly #confirm = new Confirm();
  readonly #commits = new CommitList((commit) => void this.#undoCommit(commit));
  readonly #conflicts: ConflictList;
  readonly #files: FileList;
  #known: KnownDraft | null = null;
  #changes: PageDraftChanges | null = null;
  /** The state of the draft for which its changes were read, and when they are read again. */
  #read = '';
  #freshUntil = 0;

  constructor(context: Context) {
    this.#context = context;
    this.#conflicts = new ConflictList(context, () => this.#askCommit(true));
    this.#files = new FileList(context);
    this.#files.onChoose = () => this.#updateActions();
    this.#confirm.onToggle = (isOpen) => show(this.#actions, !isOpen);
    const back = button('Back', () => context.choose(null), { class: 'btn btn-bare back' });
    const space = h('span', { class: 'sp' });
    const row = h('div', { class: 'head-row' }, back, this.#badge, this.#since, space, this.#actions);
    const head = h('header', { class: 'head' }, row, this.#title, this.#facts, this.#confirm.element);
    const parts = [this.#say, this.#commits.element, this.#conflicts.element, this.#files.element];
    const body = h('div', { class: 'body long' }, head, h('div', { class: 'rest' }, ...parts));
    this.element = h('article', { class: 'detail draft' }, body);
  }

  /** Whether a question before an action is open. */
  get isConfirming(): boolean {
    return this.#confirm.isOpen;
  }

  /** Leaves the question before an action. */
  cancel(): void {
    this.#confirm.close();
  }

  focus(): void {
    this.#title.focus();
  }

  /** Shows the present state of a draft. */
  update(known: KnownDraft | null): void {
    if (known !== this.#known) this.#reset(known);
    if (!known) return;
    const { draft, end } = known;
    const { word, tone, mark } = statedDraft(known);
    this.#badge.className = `badge badge-${tone}`;
    fill(this.#badge, `${mark} ${word}`, () => [icon(mark), capital(word)]);
    text(this.#title, titleOf(draft));
    this.element.setAttribute('aria-label', `Draft ${titleOf(draft)}`);
    const facts: Fact[] = [
      ['Agent', visible(draft.actor?.agent ?? '')],
      ['User', visible(draft.actor?.user ?? '')],
      ['Project', visible(draft.project.name)],
      ['Directory', shortPath(draft.root, this.#context.store.welcome.home)],
      ['Id', draft.name === null ? '' : draft.id],
      ['On disk', end ? '' : size(draft.bytes)],
      ['Commands', String(draft.runs)],
    ];
    fill(this.#facts, JSON.stringify(facts), () => factList(facts));
    if (end && this.#confirm.isOpen && known.commits.length === 0) this.#confirm.close();
    const key = JSON.stringify(draft);
    if (end === null && draft.state === 'open' && (this.#read !== key || Date.now() > this.#freshUntil))
      void this.#load(known, key);
    this.#updateParts(known);
    this.tick(Date.now());
  }

  tick(now: number): void {
    const { draft, end } = this.#known ?? {};
    if (!draft) return;
    const used = draft.runs > 0 ? `, last command ${ago(now - draft.usedAt)}` : '';
    text(this.#since, `made ${ago(now - draft.createdAt)}${end ? '' : used}`);
  }

  /** Undoes the newest commit after a confirmation. */
  async undo(): Promise<void> {
    const commit = this.#known?.commits.find(({ isUndone }) => !isUndone);
    if (commit) await this.#undoCommit(commit);
  }

  #reset(known: KnownDraft | null): void {
    this.#confirm.close();
    this.#known = known;
    this.#changes = null;
    this.#read = '';
    this.#files.clear();
    this.#conflicts.clear();
  }

  async #load(known: KnownDraft, key: string): Promise<void> {
    this.#read = key;
    this.#freshUntil = Number.POSITIVE_INFINITY;
    const start = Date.now();
    const { id } = known.draft;
    const found = await this.#context.server.get<PageDraftChanges>('draft', { draft: id }).catch(() => null);
    if (known !== this.#known) return;
    this.#freshUntil = Date.now() + Math.max(FRESH_MS, REST * (Date.now() - start));
    if (!found) return;
    if (JSON.stringify(found) !== JSON.stringify(this.#changes)) {
      this.#changes = found;
      this.#conflicts.update(known.draft, found);
      this.#files.update(known.draft, found);
    }
    this.#context.changed();
  }

  #updateParts(known: KnownDraft): void {
    const { end, commits } = known;
    const isShown = end === null && this.#changes !== null;
    show(this.#files.element, isShown);
    show(this.#conflicts.element, isShown && (this.#changes?.conflicts.length ?? 0) > 0);
    this.#commits.update(commits, this.#context.store.welcome.control);
    text(this.#say, wordsAbout(known));
    show(this.#say, this.#say.textContent !== '');
    this.#updateActions();
  }

  #updateActions(): void {
    if (!this.#known) return;
    const { draft, end } = this.#known;
    const isOpen = this.#context.store.welcome.control && end === null;
    const chosen = this.#files.count;
    const name = ` ${titleOf(draft)}`;
    fill(this.#actions, JSON.stringify([draft.id, isOpen, chosen > 0]), () => [
      isOpen && button('Discard', () => this.#askDiscard(), { class: 'btn btn-red' }, name),
      isOpen &&
        chosen > 0 &&
        button('Commit these files', () => this.#askCommit(false), { class: 'btn btn-ink' }, name),
      isOpen && chosen === 0 && button('Commit', () => this.#askCommit(false), { class: 'btn btn-ink' }, name),
    ]);
  }

  /** Asks whether to commit the draft, or the chosen files of it. `skip` leaves conflicts in the draft. */
  #askCommit(skip: boolean): void {
    const known = this.#known;
    if (!known) return;
    const { draft } = known;
    const place = shortPath(draft.root, this.#context.store.welcome.home);
    const paths = this.#files.count > 0 ? this.#files.chosen : undefined;
    const what = paths ? count(this.#files.count, 'chosen file') : sumOf(this.#changes ?? draft);
    const stay = skip ? ' What has a conflict stays in the draft.' : '';
    const question = {
      title: paths ? 'Commit these files?' : 'Commit this draft?',
      text: `To ${place}: ${what}.${stay} It can be undone.`,
      items: paths ? paths.slice(0, 8).map((path) => h('li', {}, h('code', {}, visible(path)))) : [],
      verb: 'Commit',
      about: titleOf(draft),
      keep: 'Not now',
      isRed: false,
    };
    this.#confirm.ask(question, () => void this.#commit(known, paths, skip));
  }

  #askDiscard(): void {
    const known = this.#known;
    if (!known) return;
    const question = {
      title: 'Discard this draft?',
      text: `Its changes are gone for good: ${sumOf(this.#changes ?? known.draft)}. The project stays as it is.`,
      items: [],
      verb: 'Discard',
      about: titleOf(known.draft),
      keep: 'Keep the draft',
      isRed: true,
    };
    this.#confirm.ask(question, () => void this.#discard(known));
  }

  async #commit(known: KnownDraft, paths: string[] | undefined, skip: boolean): Promise<void> {
    const { server, messages, changed } = this.#context;
    const name = titleOf(known.draft);
    try {
      const commit = await server.post<PageCommit>('commit', { draft: known.draft.id, paths, skip });
      this.#read = '';
      if (commit.undoId !== '') known.commits.unshift({ ...commit, at: Date.now(), isUndone: false });
      if (commit.isOver) known.end = 'committed';
      const { length } = commit.conflicts;
      if (length === 0) messages.say(`Committed from ${name}: ${committedWords(commit)}`);
      else {
        const were = length === 1 ? 'was' : 'were';
        const why = `${count(length, 'path')} ${were} changed in the project as well`;
        messages.say(`Nothing was committed from ${name}: ${why}. See Conflicts.`);
        await this.#load(known, JSON.stringify(known.draft));
        this.#updateParts(known);
        this.#conflicts.focus();
      }
      changed();
    } catch (error) {
      messages.fail(`${name} was not committed`, error);
    }
  }

  async #discard(known: KnownDraft): Promise<void> {
    const { server, messages, changed } = this.#context;
    const name = titleOf(known.draft);
    try {
      await server.post('discard', { draft: known.draft.id });
      known.end = 'discarded';
      messages.say(`Discarded: ${name}`);
      changed();
    } catch (error) {
      messages.fail(`${name} was not discarded`, error);
    }
  }

  async #undoCommit(commit: DoneCommit): Promise<void> {
    const known = this.#known;
    const { server, store, messages } = this.#context;
    if (!known || !store.welcome.control) return;
    try {
      const forecast = await server.get<PageUndo>('forecast', { run: commit.undoId });
      if (known !== this.#known) return;
      const question = {
        title: 'Undo this commit?',
        text: `${undoText(forecast)} What was committed does not return to the draft.`,
        items: undoItems(forecast, store.welcome.home),
        verb: 'Undo',
        about: `the commit of ${titleOf(known.draft)}`,
        keep: 'Keep',
        isRed: false,
      };
      this.#confirm.ask(question, () => void this.#takeBack(commit, titleOf(known.draft)));
    } catch (error) {
      messages.fail('This commit cannot be undone', error);
    }
  }

  async #takeBack(commit: DoneCommit, name: string): Promise<void> {
    const { server, messages, changed } = this.#context;
    try {
      const { restored, removed } = await server.post<PageUndo>('undo', { run: commit.undoId });
      commit.isUndone = true;
      messages.say(`Undone: the commit of ${name} (${restored.length} restored, ${removed.length} removed)`);
      changed();
    } catch (error) {
      messages.fail('It was not undone', error);
    }
  }
}
