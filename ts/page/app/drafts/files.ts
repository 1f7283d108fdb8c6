import { visible } from '../../../core/visible.ts';
import type { Changed } from '../../host/protocol.ts';
import type { PageDraft, PageDraftChanges } from '../../wire.ts';
import type { Context } from '../base/context.ts';
import { arrange, attribute, button, h, show, text } from '../base/dom.ts';
import { count } from '../base/format.ts';
import { fileRow, fileTable } from '../detail/changes.ts';
import { type FilePatch, readPatch } from './patch.ts';
import { loadFile, patchElement } from './sides.ts';
import { sumOf } from './words.ts';

/** Lines of changes up to which files are open at first. */
const OPEN_LINES = 200;

/** The row of a changed file, and the row below it with its changed lines. */
interface FileRows {
  key: string;
  change: Changed;
  elements: HTMLElement[];
}

/** The changed files of a draft, each with its changed lines and a box that chooses it. */
export class FileList {
  readonly element: HTMLElement;
  /** Called when other files are chosen. */
  onChoose: () => void = () => {};
  readonly #context: Context;
  readonly #sum = h('p');
  readonly #body = h('tbody');
  readonly #rest = h('p', { class: 'say' });
  readonly #rows = new Map<string, FileRows>();
  readonly #chosen = new Set<string>();
  /** The paths that a person has opened or closed, or that were open at first. */
  readonly #open = new Map<string, boolean>();
  #root = '';

  constructor(context: Context) {
    this.#context = context;
    this.element = h(
      'section',
      { class: 'part', 'aria-label': 'Changed' },
      h('div', { class: 'part-head' }, h('h2', {}, 'Changed'), this.#sum),
      fileTable(this.#body),
      this.#rest,
    );
  }

  /** The paths of the chosen files, relative to the root. A renamed file has two. */
  get chosen(): string[] {
    const changes = [...this.#rows.values()].map(({ change }) => change).filter(({ path }) => this.#chosen.has(path));
    return changes.flatMap(({ from, path }) => (from === undefined ? [path] : [from, path])).map(this.#short);
  }

  /** The number of chosen files. */
  get count(): number {
    return this.#chosen.size;
  }

  /** Forgets the draft that was shown. */
  clear(): void {
    for (const kept of [this.#rows, this.#chosen, this.#open]) kept.clear();
    this.#body.replaceChildren();
  }

  /** Shows the changes of a draft. */
  update(draft: PageDraft, found: PageDraftChanges): void {
    this.#root = draft.root;
    const patches = readPatch(found.patch);
    if (this.#open.size === 0) this.#openFirst(found.changes, patches);
    const paths = new Set(found.changes.map(({ path }) => path));
    for (const path of this.#chosen) if (!paths.has(path)) this.#chosen.delete(path);
    for (const path of [...this.#rows.keys()]) if (!paths.has(path)) this.#rows.delete(path);
    for (const change of found.changes) {
      const patch = patches.get(this.#short(change.path)) ?? null;
      const key = JSON.stringify([change, patch]);
      if (this.#rows.get(change.path)?.key === key) continue;
      this.#rows.set(change.path, { key, change, elements: this.#rowsOf(draft.id, change, patch) });
    }
    const order = found.changes.flatMap(({ path }) => this.#rows.get(path)?.elements ?? []);
    arrange(this.#body, order);
    const { created, modified, deleted, renamed } = found.counts;
    const rest = created + modified + deleted + renamed - found.changes.length;
    text(this.#rest, rest > 0 ? `And ${count(rest, 'more change')}: agent-bash draft changes ${draft.id}` : '');
    show(this.#rest, rest > 0);
    text(this.#sum, sumOf(found).replaceAll(', ', ' · '));
    this.onChoose();
  }

  readonly #short = (path: string): string =>
    path.startsWith(`${this.#root}/`) ? path.slice(this.#root.length + 1) : path;

  #openFirst(changes: readonly Changed[], patches: Map<string, FilePatch>): void {
    let lines = 0;
    for (const { path } of changes) {
      const hunks = patches.get(this.#short(path))?.hunks ?? [];
      lines += hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
      if (lines > OPEN_LINES) return;
      this.#open.set(path, hunks.length > 0);
    }
  }

  #rowsOf(draft: string, change: Changed, patch: FilePatch | null): HTMLElement[] {
    const { path, kind, type } = change;
    const { store } = this.#context;
    const box = store.welcome.control ? this.#boxOf(change) : null;
    if (type === 'directory' || (kind === 'renamed' && !patch?.hunks.length)) {
      return [fileRow(change, this.#root, store.welcome.home, box)];
    }
    const cell = h('td', { colspan: 3 });
    const below = h('tr', { class: 'diff-row' }, cell);
    const toggle = button(null, () => set(below.hidden), { class: 'toggle' });
    const set = (isOpen: boolean) => {
      this.#open.set(path, isOpen);
      attribute(toggle, 'aria-expanded', String(isOpen));
      show(below, isOpen);
      if (isOpen && !cell.firstChild) void this.#fill(cell, draft, change, patch);
    };
    set(this.#open.get(path) ?? false);
    const wrap = (nodes: Node[]) => {
      toggle.append(...nodes);
      return [toggle];
    };
    return [fileRow(change, this.#root, store.welcome.home, box, wrap), below];
  }

  async #fill(cell: HTMLElement, draft: string, { path }: Changed, patch: FilePatch | null): Promise<void> {
    cell.replaceChildren(
      patch ? patchElement(patch, 'lines') : await loadFile(this.#context, draft, this.#short(path), 'lines'),
    );
  }

  #boxOf({ path }: Changed): HTMLElement {
    const name = `Choose ${visible(this.#short(path))}`;
    const box = h('input', { type: 'checkbox', 'aria-label': name });
    box.checked = this.#chosen.has(path);
    box.addEventListener('change', () => {
      if (box.checked) this.#chosen.add(path);
      else this.#chosen.delete(path);
      this.onChoose();
    });
    return h('label', { class: 'choice' }, box);
  }
}
