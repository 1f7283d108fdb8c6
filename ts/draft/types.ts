import type { Change, ChangeCounts, GitChange, Rename } from '../../native.cjs';
import type { ConfineOptions } from '../confine/types.ts';
import type { Actor } from '../ledger/types.ts';

/** A `Draft`, as the option `draft` of a command names it. Another object is refused. */
export interface DraftHandle {
  /** Its name for `openDraft({ id })`. */
  readonly id: string;
  /** The drafted directory. */
  readonly root: string;
  /** Ends what this process runs in the draft. */
  close(): Promise<void>;
}

/** What commands of a draft may use of this machine. It is in memory alone. */
export type Credentials = Pick<ConfineOptions, 'secrets' | 'ssh'>;

/** Options of `openDraft`. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
export interface DraftOptions {
  /**
   * The directory that is drafted. A relative path is resolved against `process.cwd()`, and links are resolved. Your
   * home, a directory that holds it, and one that holds the root of another draft are `ERR_BASH_DRAFT` with the reason
   * `'root'`.
   *
   * @default the top of the repository of `process.cwd()`, or `process.cwd()`
   * @example await using draft = await openDraft({ root: '/srv/project' });
   */
  root?: string | undefined;
  /**
   * Opens a draft that exists, whichever process of this user has made it. A draft that does not exist, or has another
   * root, is `ERR_BASH_DRAFT` with the reason `'unknown'`. The other options but `dir`, `root`, and `secrets` and `ssh`
   * of `confine` count for new drafts alone.
   *
   * @default a new draft
   * @example await using draft = await openDraft({ id: 'd0c1f3a5b7e9' });
   */
  id?: string | undefined;
  /**
   * A name for people, at most 80 characters.
   *
   * @default none
   * @example await openDraft({ name: 'try the new parser' });
   */
  name?: string | undefined;
  /**
   * What else commands may do, as in `bash()`: hosts, hidden paths, caches. Commands of a draft are always confined.
   * They change files below the root, in a private `/tmp` and in caches alone, so `write`, `expose`, another `profile`
   * and a shared `tmp` are refused. With git `'none'` a git directory outside of the root is not drafted, and is only
   * read. `secrets` and `ssh` are this process's own and never on the disk: another one that opens the draft by its
   * `id` gives others, or none. A fork has them.
   *
   * @default {}
   * @example await openDraft({ confine: { network: { allow: ['registry.npmjs.org'] } } });
   */
  confine?: ConfineOptions | undefined;
  /**
   * The TCP ports of the draft's loopback that this machine reaches, at most 64, or `'auto'`: each one at which a
   * server listens. `Draft.port` says where. Each draft has a loopback of its own: servers of several drafts may have
   * the same port. With network `'full'` there is no such loopback, and it is refused.
   *
   * @default none
   * @example await openDraft({ expose: [3000] });
   */
  expose?: number[] | 'auto' | undefined;
  /**
   * How long the draft is kept: `'process'` until no process has it open, or so many days after its last command. A
   * draft that is open is kept.
   *
   * @default { days: 7 }
   * @example await openDraft({ keep: 'process' });
   */
  keep?: 'process' | { days: number } | undefined;
  /**
   * The most bytes that its changes may take on the disk, a whole number of at least 1. A command that goes over it, or
   * that leaves less than a tenth of the disk, is ended with a note, and one file cannot be larger. As long as the
   * draft is over it, no further command begins: `ERR_BASH_DRAFT`, reason `'space'`.
   *
   * @default 8_589_934_592 (8 GiB)
   * @example await openDraft({ maxBytes: 512 * 1024 ** 2 });
   */
  maxBytes?: number | undefined;
  /**
   * The directory of all drafts, never inside of the root. If it is not on the mount of the root, changes are kept in a
   * directory `.agent-bash-drafts-UID` on that mount, as far up as you may write; if the mount begins at the root, they
   * are kept here, and a commit copies them.
   *
   * @default `$XDG_STATE_HOME/agent-bash/drafts`, else `~/.local/state/agent-bash/drafts`
   * @example await openDraft({ root: '/srv/project', dir: '/srv/.drafts' });
   */
  dir?: string | undefined;
}

/** Options of `drafts`. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
export interface ListDraftsOptions {
  /**
   * Only drafts of this directory. A relative path is resolved against `process.cwd()`.
   *
   * @default all drafts
   * @example const [newest] = await drafts({ root: '.' });
   */
  root?: string | undefined;
  /**
   * The directory of all drafts, as in `DraftOptions`.
   *
   * @default the user's own
   * @example const found = await drafts({ dir: '/srv/.drafts' });
   */
  dir?: string | undefined;
}

/** The options that say which paths of a draft are meant. */
export interface DraftPaths {
  /**
   * Only these paths and, for directories, everything below, relative to the root or absolute. A path that is not below
   * the root is `ERR_BASH_INVALID_ARG`.
   *
   * @default the whole draft
   * @example await draft.commit({ paths: ['src'] });
   */
  paths?: string[] | undefined;
}

/** Options of `Draft.changes`. */
export interface DraftChangesOptions extends DraftPaths {
  /**
   * The most entries of each list, a whole number of at least 0. `counts` has all.
   *
   * @default 100
   * @example const { created } = await draft.changes({ list: 1000 });
   */
  list?: number | undefined;
}

/** Options of `Draft.diff`. */
export interface DraftDiffOptions extends DraftPaths {
  /**
   * Unchanged lines around each change, a whole number of at least 0.
   *
   * @default 3
   * @example const patch = await draft.diff({ context: 10 });
   */
  context?: number | undefined;
  /**
   * The most bytes of the patch, a whole number of at least 1. Files beyond it are counted at its beginning.
   *
   * @default 1_048_576 (1 MiB)
   * @example const patch = await draft.diff({ maxBytes: 20_000 });
   */
  maxBytes?: number | undefined;
}

/** Options of `Draft.read`. */
export interface DraftReadOptions {
  /**
   * The side: the file as commands of the draft see it, or as it is outside.
   *
   * @default 'draft'
   * @example const before = await draft.read('src/a.ts', { side: 'base' });
   */
  side?: 'draft' | 'base' | undefined;
}

/** Options of `Draft.commit`. */
export interface DraftCommitOptions extends DraftPaths {
  /**
   * What happens if a path was changed beside the draft: `'stop'` commits nothing, `'skip'` leaves such paths in the
   * draft. `'merge'` merges files of lines three ways, as `git merge-file` does, and is `'stop'` for all other paths:
   * files over 1 MiB, files in `.git`, files of which both have changed the same or touching lines, and files that were
   * changed outside before the first command that changed them had ended.
   *
   * @default 'stop'
   * @example const { skipped } = await draft.commit({ onConflict: 'skip' });
   */
  onConflict?: 'stop' | 'skip' | 'merge' | undefined;
  /**
   * Whether the commit only reports its effect and changes nothing.
   *
   * @default false
   * @example const { conflicts } = await draft.commit({ dryRun: true });
   */
  dryRun?: boolean | undefined;
}

/** A path, with a reason in a few words. */
export interface PathReason {
  /** The absolute path. */
  path: string;
  /** The reason. */
  why: string;
}

/** What a draft has changed. Paths are absolute, and lists are sorted and cut as in a receipt. `.git` is in no list. */
export interface DraftChanges {
  /** Files and directories that the draft has and its root has not. */
  created: Change[];
  /** Files with other contents, and files and directories with another mode, owner or attributes. */
  modified: Change[];
  /** Files and directories that the draft has removed. */
  deleted: Change[];
  /** Files and directories that have another path in the draft. */
  renamed: Rename[];
  /** Numbers of all changes, including those that are not listed. */
  counts: ChangeCounts;
  /** Bytes on the disk of what the draft has changed. */
  bytes: number;
  /** The paths that both the draft and someone outside have changed. */
  conflicts: PathReason[];
  /** Repositories of which the draft has changed files of git, as in a receipt. Objects and logs do not count. */
  git: GitChange[];
}

/** The effect of a commit, or of a dry run. */
export interface Committed {
  /** The paths that were changed, sorted. A directory that was moved as a whole is one of them. */
  applied: string[];
  /** The paths that stay in the draft. */
  skipped: PathReason[];
  /** With `'stop'`: why nothing was committed. `keptAt` is the file that has the draft's side, or `null`. */
  conflicts: (PathReason & { keptAt: string | null })[];
  /** Names the commit, which `undo(undoId)` takes back. `''` if nothing was changed. */
  undoId: string;
}

/** A draft on the disk. */
export interface DraftInfo {
  /** Its name for `openDraft({ id })`. */
  id: string;
  /** The name for people, or `null`. */
  name: string | null;
  /** The drafted directory, absolute and without links. */
  root: string;
  /** When it was opened first, Unix time in ms. */
  createdAt: number;
  /** When its last command began, Unix time in ms. */
  usedAt: number;
  /** Bytes on the disk of what it has changed. */
  bytes: number;
  /** Numbers of its changes. */
  counts: ChangeCounts;
  /** `'committing'`: a commit was killed, and whoever opens the draft finishes it. */
  state: 'open' | 'committing';
  /** The number of commands that have begun in it. */
  runs: number;
  /** Who asked for its first command of which that is known; `null` if nobody was named. */
  actor: Actor | null;
  /** The processes that have it open. */
  hosts: number[];
}
