import type {
  hasUnreadInput,
  NativeAnswer,
  NativeLedgerBatch,
  NativeText,
  noticeOfCut,
  offers,
  Receipt,
  signalOf,
  UndoPoint,
} from '../../native.cjs';
import type { Facts } from './facts.ts';
import { internalKey } from './internal.ts';
import type { Decider } from './ledger.ts';
import type { OptionTable } from './option-names.ts';
import type { Outline } from './outline.ts';
import type { Access, Owner, Reach, SecretReach } from './world.ts';

/**
 * Names the parts of the main entry that the other entries of this package use and that users do not see: a property of
 * `bash`.
 */
export const INNER: unique symbol = internalKey('inner');

/** Names the promise of a page that resolves when a tab has signed in for the first time; for `agent-bash ui`. */
export const SIGNED_IN: unique symbol = internalKey('signed-in');

/** A page with this promise. */
export interface SignsIn {
  readonly [SIGNED_IN]: Promise<void>;
}

/** How far the undo of a command would go. */
export interface UndoForecast {
  /** The effects that the undo would not take back, as sentences. */
  left: string[];
  /** Why there is no undo. `null` if there is one. */
  why: string | null;
}

/** A command that was refused before it could run. */
export interface Refusal {
  command: string;
  /** The options with which it would have run. */
  options: { ledger?: boolean | undefined; actor?: object | undefined; cwd?: string | undefined };
  verdict: 'allow' | 'warn' | 'ask' | 'deny';
  /** The rules of its findings. */
  rules: readonly string[];
  /** Where a person has refused it; left out if no person has. */
  decidedBy?: Decider | undefined;
}

/** A question about a command that has not started, for the people who watch on a page. */
export interface PageQuestion {
  command: string;
  cwd: string;
  actor?: object | undefined;
  verdict: 'allow' | 'warn' | 'ask' | 'deny';
  rules: readonly string[];
  reasons: readonly string[];
  undo?: 'full' | 'part' | 'none' | undefined;
  /** Whether it waits for a page that comes later, because somebody else may answer meanwhile. */
  stays: boolean;
}

/** The parts of the main entry that run no command. */
export interface Inner {
  /** Decodes, cleans and cuts output that something other than `bash` has run. */
  readonly NativeText: typeof NativeText;
  /** The tables of options of `bash` and of `analyze`, to which other entries add their own. */
  readonly options: { readonly bash: OptionTable; readonly analyze: OptionTable };
  /** Reads a command without running it. */
  outlineOf(command: string): Outline;
  /** Limits and defaults, asked for at the first call. */
  facts(): Facts;
  /** The signal with this name (`SIGTERM`, `TERM`), or `null`. */
  signalOf: typeof signalOf;
  /** The notice of a further cut of a stream. */
  noticeOfCut: typeof noticeOfCut;
  /** Throws `ERR_BASH_INVALID_ARG` for a command and options that `bash` would refuse. */
  check(command: unknown, options: unknown): void;
  /** Throws what `bash` would for options of a tool in a draft, or with `draft: true`. */
  checkDraft(options: object): void;
  /** Opens a draft as `openDraft` does, but without a world for commands: to look at it, to commit or to discard it. */
  openIdleDraft(options: object): Promise<object>;
  /** Returns where the secrets work with which this process opened a draft, if there are any. */
  secretsOf(draft: object): Record<string, SecretReach> | undefined;
  /** Makes the owner of the worlds of commands that belong together; see `OWNER`. `root` is an absolute path. */
  newOwner(root: string): Owner;
  /**
   * Returns the part of the access that the options of a confinement do not allow yet, resolved. Throws
   * `ERR_BASH_CONFINEMENT` for access that cannot be granted.
   */
  checkAccess(options: object, cwd: string, access: Access): Access;
  /** The `confine` of options that have none. The tests of this package change it. */
  readonly defaults: { confine: 'off' | 'read-only' | 'workspace' };
  /** Returns the reach that a confinement leaves. `null` if a command with these options is not confined. */
  reachOf(options: object, cwd: string): Reach | null;
  /**
   * Tells how far the undo of a command would go. `options` are the options of `analyze`, `undo` is the option of
   * `bash`.
   */
  undoForecast(command: string, options: object, undo: object | string): UndoForecast;
  /**
   * Finds the newest run of an absolute directory that an undo with these options would take back. `null` if there is
   * none.
   */
  newestToUndo(directory: string, options: object): Promise<string | null>;
  /** Returns the known files that a run changed, by its receipt, and a note if they cannot be read. */
  staleOf(
    receipt: Receipt | null,
    known: Iterable<string> | (() => Iterable<string>) | undefined,
  ): { stale: { path: string; change: 'modified' | 'deleted' | 'renamed' }[]; notes: string[] };
  /** Reads the ledger as text. With `colours`, true or false, the text is for people, and otherwise JSON. */
  readLedger(options: object, colours: boolean | null): AsyncIterable<NativeLedgerBatch>;
  /** Records a refusal in the ledger. Returns its run, or `null` if it is not recorded. */
  recordRefusal(refusal: Refusal): string | null;
  /** Lists the undo points of these runs that were not evicted. */
  undoPointsOf(runIds: string[]): Promise<UndoPoint[]>;
  /** Lets a page watch this process, and answer its questions, before its first command. */
  listen(): void;
  /**
   * Asks the people who watch on a page. The signal withdraws the question. `null` if no page may answer, none is left,
   * the question was withdrawn, too many wait, or the command is too long to be shown whole.
   */
  askPage(question: PageQuestion, signal: AbortSignal): Promise<NativeAnswer | null>;
  /** Returns a command with `[redacted]` in place of each secret. */
  redact(text: string): string;
  /** Returns whether a `target` is a pool. */
  isPool(target: unknown): boolean;
  /**
   * Returns the target on which the calls of an affinity run: the given one, or the place that a pool has given them.
   * `null`: they have none.
   */
  placeOf(target: object, affinity: string | undefined): object | null;
  /** Returns the directory of the user's own registry on a target. Throws `ERR_BASH_UNSUPPORTED` without a home. */
  registryDirectory(target: object): string;
  /** Returns the directory in which the hosts of this user listen. `null` if something else is in its place. */
  hostsDirectory(): string | null;
  /** The error of a wrong value: `name: VALUE is not WANTED`. */
  invalid(name: string, value: unknown, wanted: string): Error;
  /** The function that undoes the instrumentation of this thread by `agent-bash/otel`; `null` without one. */
  readonly instrumented: { undo: (() => void) | null };
  /** The part of a directory's name that tells this process from any other. */
  ownName(): string;
  /** Removes the subdirectories named `PREFIX` + `ownName()` + `-…` whose processes were killed. */
  removeLeft(parent: string, prefix: string): void;
  /** Removes a directory when this process has ended for any reason. */
  removeAtEnd(folder: string): void;
  /** Cancels `removeAtEnd` for a directory that is gone. */
  removeNoMore(folder: string): void;
  /** The capabilities of this kernel, for `agent-bash doctor`. */
  offers: typeof offers;
  /** Returns whether standard input is a pipe or a file with bytes that were not read yet. Reads nothing. */
  hasUnreadInput: typeof hasUnreadInput;
}

/** The inner parts of `bash`. */
export function innerOf(bash: unknown): Inner {
  return (bash as { [INNER]: Inner })[INNER];
}
