import { nativeCredentials } from '../confine/native.ts';
import { callFunctions } from '../confine/secrets.ts';
import { resolve } from '../core/builtins.ts';
import { settled } from '../core/calls.ts';
import { directoryOf, ownEnvironment } from '../request.ts';
import { warmUp } from '../shells.ts';
import { checkOpen, type DraftParts, draftOf, keepDraft, pathsIn } from './handle.ts';
import {
  checkChanges,
  checkCommit,
  checkDiff,
  checkDrafts,
  checkFork,
  checkOpenDraft,
  checkPath,
  checkPort,
  checkRead,
} from './options.ts';
import { publishDraft } from './published.ts';
import type {
  Committed,
  Credentials,
  DraftChanges,
  DraftChangesOptions,
  DraftCommitOptions,
  DraftDiffOptions,
  DraftInfo,
  DraftOptions,
  DraftReadOptions,
  ListDraftsOptions,
} from './types.ts';

const DAY = 86_400_000;
const KEPT_DAYS = 7;

/** A draft as the addon describes it. */
type Told = Omit<DraftInfo, 'counts'> & { dir: string; counts: DraftInfo['counts'] | null };

/** Makes a call about drafts. */
function ask<T>(call: object): Promise<T> {
  const text = JSON.stringify(call);
  return settled({
    begin: (way) => way.draft(text, ownEnvironment()),
    kind: 'told',
    answer: ({ answer }) => JSON.parse(answer) as T,
  });
}

/** Opens a draft; see `openDraft` of the main entry. */
export async function open(options: DraftOptions = {}): Promise<Draft> {
  const draft = begin(await openIdle(options));
  publishDraft('opened', draft);
  return draft;
}

/** Opens a draft without a world for commands: to look at it, to commit it or to discard it. */
export async function openIdle(options: DraftOptions = {}): Promise<Draft> {
  checkOpenDraft(options);
  const { root, id, name, confine = {}, expose, maxBytes, keep = { days: KEPT_DAYS }, dir } = options;
  const { secrets, ssh, ...kept } = confine;
  const credentials = { secrets, ssh };
  await callFunctions(secrets);
  const wanted = {
    cwd: directoryOf({}),
    root: root === undefined ? undefined : resolve(root),
    id,
    name,
    confine: JSON.stringify(kept),
    credentials: nativeCredentials(credentials),
    expose,
    maxBytes,
    keepMs: keep === 'process' ? undefined : Math.round(keep.days * DAY),
    dir: dir === undefined ? undefined : resolve(dir),
  };
  return new Draft(await ask<Told>({ call: 'open', options: wanted }), credentials);
}

/** Begins the world of a draft in the background. */
function begin(draft: Draft): Draft {
  const parts = draftOf(draft);
  // What cannot be made is the error of the first command.
  if (parts) parts.begun = warmUp({ draft }).catch(() => {});
  return draft;
}

/** Lists drafts; see `drafts` of the main entry. */
export async function list(options: ListDraftsOptions = {}): Promise<DraftInfo[]> {
  checkDrafts(options);
  const { root, dir } = options;
  const wanted = { root: root && resolve(root), dir: dir && resolve(dir) };
  const found = await ask<(Told & DraftInfo)[]>({ call: 'list', ...wanted });
  return found.map(({ dir, ...info }) => info);
}

/**
 * Work that has not happened yet: commands with the option `draft` see the root at its own path, with all that is in
 * it, and what they change is kept apart until it is committed. Made by `openDraft`.
 *
 * After `commit` of all that is in it, and after `discard`, every use is `ERR_BASH_DRAFT` with the reason `'unknown'`.
 */
export class Draft {
  /** Its name for `openDraft({ id })`. */
  readonly id: string;
  /** The name for people, or `null`. */
  readonly name: string | null;
  /** The drafted directory, absolute and without links. */
  readonly root: string;
  /** When it was opened first, Unix time in ms. */
  readonly createdAt: number;
  #state: 'open' | 'committing' | 'committed' | 'discarded' = 'open';
  readonly #parts: DraftParts;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor({ id, name, root, createdAt, dir }: Told, credentials: Credentials) {
    this.id = id;
    this.name = name;
    this.root = root;
    this.createdAt = createdAt;
    const ending = new AbortController();
    const [running, tasks] = [new Set<Promise<unknown>>(), new Set<() => Promise<unknown>>()];
    this.#parts = { id, dir, root, credentials, over: null, ending, begun: null, running, tasks };
    keepDraft(this, this.#parts);
  }

  /** Whether it can be used, is being committed by this object, or is over. */
  get state(): 'open' | 'committing' | 'committed' | 'discarded' {
    return this.#state;
  }

  /**
   * Resolves with what the draft has changed, and with the paths that someone outside has changed as well. Reads what
   * the draft has changed, and not the root. May be called while commands run.
   *
   * @example const { counts, conflicts } = await draft.changes();
   */
  async changes(options: DraftChangesOptions = {}): Promise<DraftChanges> {
    checkChanges(options);
    return this.#ask('changes', { paths: this.#paths(options.paths), list: options.list ?? 100 });
  }

  /**
   * Resolves with the changes as a patch that `git apply` takes in the root. Binary files are named at its beginning,
   * with their sizes.
   *
   * @example const patch = await draft.diff({ paths: ['src'] });
   */
  async diff(options: DraftDiffOptions = {}): Promise<string> {
    checkDiff(options);
    const { paths, context = 3, maxBytes = 1 << 20 } = options;
    return this.#ask('diff', { paths: this.#paths(paths), context, maxBytes });
  }

  /**
   * Resolves with the contents of a file, or `null` if there is no file. A relative path begins in the root; one that
   * is not below it is `ERR_BASH_INVALID_ARG`. A link is not followed.
   *
   * @example const text = new TextDecoder().decode((await draft.read('package.json')) ?? undefined);
   */
  async read(path: string, options: DraftReadOptions = {}): Promise<Uint8Array | null> {
    checkPath(path);
    checkRead(options);
    checkOpen(this.#parts);
    const call = { call: 'read', draft: this.#name, path: this.#paths([path])[0], side: options.side ?? 'draft' };
    const text = JSON.stringify(call);
    return settled({
      begin: (way) => way.draft(text, ownEnvironment()),
      kind: 'read',
      answer: ({ bytes }) => bytes ?? null,
    });
  }

  /**
   * Moves the changes into the root, all or those of `paths`. With `'stop'`, the default, a path that was changed
   * outside as well stops it: the promise resolves with the conflicts, and nothing was changed.
   *
   * Rejects with `ERR_BASH_DRAFT`, reason `'busy'`, while a command runs in the draft. A commit that is killed is
   * finished by whoever uses the draft next. `undo(undoId)` takes a commit back. The draft is over if nothing of it is
   * left, and stays otherwise.
   *
   * @example const { applied, conflicts, undoId } = await draft.commit();
   */
  async commit(options: DraftCommitOptions = {}): Promise<Committed> {
    checkCommit(options);
    const { paths, onConflict = 'stop', dryRun = false } = options;
    checkOpen(this.#parts);
    if (!dryRun) this.#state = 'committing';
    try {
      const wanted = { paths: this.#paths(paths), onConflict, dryRun };
      const { isOver, ...committed } = await this.#alone<Committed & { isOver: boolean }>('commit', wanted);
      if (isOver) this.#parts.over = 'committed';
      if (!dryRun) this.#publishCommit(committed);
      return committed;
    } finally {
      if (!dryRun) this.#state = this.#parts.over === 'committed' ? 'committed' : 'open';
    }
  }

  /**
   * Removes the draft with all its changes. Rejects with `ERR_BASH_DRAFT`, reason `'busy'`, while a command runs in it.
   *
   * @example await draft.discard();
   */
  async discard(): Promise<void> {
    await this.#alone('discard', {});
    this.#parts.over = 'discarded';
    this.#state = 'discarded';
    publishDraft('discarded', this);
  }

  /**
   * Opens a second draft, which begins with the changes of this one. From then on neither sees the other. Rejects with
   * `ERR_BASH_DRAFT`, reason `'busy'`, while a command runs in this draft.
   *
   * @example const bolder = await draft.fork({ name: 'the same without the cache' });
   */
  async fork(options: { name?: string | undefined } = {}): Promise<Draft> {
    checkFork(options);
    const told = await this.#alone<Told>('fork', { name: options.name });
    const fork = begin(new Draft(told, this.#parts.credentials));
    publishDraft('forked', fork, { forkOf: this.id });
    return fork;
  }

  /**
   * Resolves with the place at which this machine reaches a port of the draft, or with `null` if `expose` does not have
   * it. With `'auto'` it is `null` as long as no server listens there. The place stays as long as this process has the
   * draft open, also if a server starts or a commit is made meanwhile; without a server, connections are reset.
   *
   * @example const place = await draft.port(3000);
   */
  async port(port: number): Promise<{ port: number; url: string } | null> {
    checkPort(port);
    await this.#parts.begun;
    const here = await this.#ask<number | null>('port', { port });
    return here === null ? null : { port: here, url: `http://127.0.0.1:${here}` };
  }

  /**
   * Ends the commands and tasks that this process runs in the draft. Its changes stay, as `keep` says. May be called
   * again.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Same as `close()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    const { ending, running, tasks, over } = this.#parts;
    this.#parts.over ??= 'closed';
    ending.abort();
    await Promise.allSettled([this.#parts.begun, ...running, ...[...tasks].map((end) => end())]);
    if (over !== null) return;
    await ask({ call: 'close', draft: this.#name });
    if (this.#parts.begun) publishDraft('closed', this);
  }

  #publishCommit({ applied, skipped, conflicts, undoId }: Committed): void {
    const counts = { applied: applied.length, skipped: skipped.length, conflicts: conflicts.length };
    publishDraft('committed', this, { counts, undoId });
  }

  get #name() {
    return { id: this.id, dir: this.#parts.dir };
  }

  #paths(paths: readonly string[] | undefined): string[] {
    return pathsIn(this.#parts, paths);
  }

  /** Makes a call for which nothing may run in the draft. */
  async #alone<T>(call: string, wanted: object): Promise<T> {
    await this.#parts.begun;
    return this.#ask(call, wanted);
  }

  async #ask<T>(call: string, wanted: object): Promise<T> {
    checkOpen(this.#parts);
    return ask<T>({ call, draft: this.#name, ...wanted });
  }
}
