import type { Undone, UndoPoint } from '../native.cjs';
import { run } from './bash.ts';
import type { BashOptions } from './bash-options.ts';
import { checkAccess, reachOf } from './confine/access.ts';
import { defaults } from './confine/native.ts';
import { newOwner } from './confine/owner.ts';
import { facts, outlineOf } from './core/answers.ts';
import { invalid } from './core/checks.ts';
import { INNER, type Inner } from './core/inner.ts';
import { loadNative, refuseWindows } from './core/native.ts';
import { askPage, listen } from './core/page.ts';
import { staleOf } from './core/stale.ts';
import { draftOf } from './draft/handle.ts';
import { type Draft, list, open, openIdle } from './draft/index.ts';
import type { DraftInfo, DraftOptions, ListDraftsOptions } from './draft/types.ts';
import { placeOf, poolOf } from './fleet/handle.ts';
import { batches, entries, recordRefusal } from './ledger/index.ts';
import type { LedgerEntry, ReadLedgerOptions } from './ledger/types.ts';
import { checkDraft, checkElsewhere, OPTION_TABLES } from './options.ts';
import type { Truncate } from './output.ts';
import { registryDirectory } from './registry/index.ts';
import type { BashEnded, BashResult } from './result.ts';
import { connectTo } from './target/index.ts';
import type { ConnectOptions, Target, TargetAddress } from './target/types.ts';
import type { ForegroundOptions } from './types.ts';
import { undoForecast } from './undo/forecast.ts';
import { listUndoPoints, newestToUndo, undoPointsOf, undoRun } from './undo/index.ts';
import type { UndoPointsOptions, UndoRunOptions } from './undo/types.ts';

export type {
  BackgroundTask,
  BashPrompt,
  BashSnapshot,
  BashTruncation,
  BashUsage,
  Change,
  ChangeCounts,
  ConfineMissing,
  Confinement,
  Denial,
  DenialGrant,
  GitChange,
  GrantedNetwork,
  OutputChunk,
  Port,
  PortChanges,
  Receipt,
  Rename,
  SecretUse,
  Survivor,
  TerminalCursor,
  TerminalModes,
  TerminalScreen,
  TerminalWaited,
  Truncation,
  UndoConflict,
  UndoCoverage,
  Undone,
  UndoPoint,
  WarmShells,
} from '../native.cjs';
export type { BashOptions } from './bash-options.ts';
export { type AwsCredentials, secretFor } from './confine/secret-for.ts';
export type {
  ConfineNetwork,
  ConfineOptions,
  ConfinePart,
  ConfineSetting,
  ConfineSsh,
  Secret,
  SecretPlace,
} from './confine/types.ts';
export type { SignalName } from './core/signals.ts';
export type { StaleFile } from './core/stale.ts';
export type { Draft } from './draft/index.ts';
export type {
  Committed,
  DraftChanges,
  DraftChangesOptions,
  DraftCommitOptions,
  DraftDiffOptions,
  DraftHandle,
  DraftInfo,
  DraftOptions,
  DraftPaths,
  DraftReadOptions,
  ListDraftsOptions,
  PathReason,
} from './draft/types.ts';
export { BashError, type BashErrorCode, type DraftReason, type TargetReason } from './errors.ts';
export { listChecks, readTests } from './evidence/index.ts';
export type {
  Check,
  CheckRun,
  Evidence,
  ListChecksOptions,
  Masked,
  NotKnown,
  Part,
  ReadTestsOptions,
  Reused,
  Since,
  Standing,
  Tap,
  TestCounts,
} from './evidence/types.ts';

export { TargetPool } from './fleet/index.ts';
export type { Fleet, PlaceStats, ProvidedTarget, TargetPoolOptions, TargetProvider } from './fleet/types.ts';

export { type HighlightClass, type HighlightToken, highlight } from './highlight.ts';
export type { Actor, LedgerEntry, LedgerState, ReadLedgerOptions } from './ledger/types.ts';
export type {
  Observed,
  ObservedBlock,
  ObservedCall,
  ObservedDraft,
  ObservedExit,
  ObservedKill,
  ObservedKind,
  ObservedOutput,
  ObservedReturn,
  ObservedReuse,
  ObservedRule,
  ObservedStart,
  ObservedTarget,
  ObservedUndo,
} from './observe/channels.ts';
export type { Truncate } from './output.ts';
export { PtySession } from './pty/index.ts';
export type { TerminalDataListener, TerminalExit, TerminalExitListener } from './pty/listeners.ts';
export type { PtyEnd, PtyOptions, PtyWaitOptions } from './pty/names.ts';
export type { TerminalOptions, TerminalWaitOptions } from './pty/options.ts';
export { estimateTokens, reduceText } from './reduce/index.ts';
export type { RuleStats } from './reduce/ledger.ts';
export { type OutputRange, OutputStore, type OutputStoreOptions } from './reduce/store.ts';
export type { ElidedLines, ReduceOptions, ReduceTextOptions, View } from './reduce/types.ts';
export { BackgroundRegistry, defaultRegistry } from './registry/index.ts';
export type { TaskExitListener, TaskOutputListener } from './registry/listeners.ts';
export type {
  BackgroundCheck,
  BackgroundCheckOptions,
  BackgroundRegistryOptions,
  BackgroundWaitOptions,
  TaskName,
  TaskRegistry,
} from './registry/types.ts';
export type { BashBackgrounded, BashEnded, BashLost, BashResult, BashRun } from './result.ts';
export type {
  Analysis,
  CommandRedirect,
  CommandUnit,
  Decision,
  Finding,
  SafetyRule,
  Verdict,
  Word,
  WrapperKind,
} from './safety/analysis.ts';
export { analyze, decide, safetyRules } from './safety/index.ts';
export type { AnalyzeOptions, DecideRules, SafetyOptions } from './safety/types.ts';
export type {
  BashLimits,
  NativeOptions,
  ReuseOptions,
  SanitizeOptions,
  SpillOptions,
  UndoOptions,
} from './schema/types.ts';
export { BashSession, type SessionResult } from './session.ts';
export { warmShells, warmUp } from './shells.ts';
export type {
  ConnectOptions,
  ContainerAddress,
  FileKind,
  FileStat,
  ForwardedPort,
  PodAddress,
  SshAddress,
  Target,
  TargetAddress,
  TargetEvent,
  TargetInfo,
  TargetListener,
  TargetState,
} from './target/types.ts';
export type { CommandOptions, ForegroundOptions } from './types.ts';
export type { UndoPointsOptions, UndoRunOptions } from './undo/types.ts';

refuseWindows();

/**
 * Runs a command in a fresh, non-login bash. Resolves when the command has ended, with its output.
 *
 * A command that ran is never an error, whatever its exit code, and neither is a time limit or an abort. The promise
 * rejects with a `BashError` only if nothing could be run: `ERR_BASH_INVALID_ARG`, `ERR_BASH_CWD_NOT_FOUND`,
 * `ERR_BASH_CWD_NOT_DIRECTORY`, `ERR_BASH_SHELL_NOT_FOUND`, `ERR_BASH_SPAWN`, `ERR_BASH_UNSUPPORTED`, and
 * `ERR_BASH_BLOCKED`, with `findings`, if the safety engine denies the command. With `confine` it also rejects with
 * `ERR_BASH_CONFINEMENT`, with `missing`, if this machine cannot hold it, and with `undo.require` with `ERR_BASH_UNDO`
 * if the undo would not cover everything. With background tasks it also rejects with `ERR_BASH_TOO_MANY_TASKS` and
 * `ERR_BASH_CLOSED`. The function never throws synchronously, and its promise always
 * settles.
 *
 * @example const { stdout, exitCode } = await bash('git status --short', { cwd: '/srv/project' });
 * @param command reaches bash byte for byte, up to 64 MiB. A command over 131,071 bytes reaches it as a script.
 * @param options see `BashOptions`; all may be left out. Without `registry`, `mode: 'background'` and `onTimeout:
 * 'background'`, the command cannot go to the background, and `exitCode` is a number.
 */
export function bash(command: string, options?: ForegroundOptions): Promise<BashEnded>;
export function bash(command: string, options?: BashOptions): Promise<BashResult>;
export function bash(command: string, options?: BashOptions): Promise<BashResult> {
  return run(command, options);
}

/**
 * Connects to a machine or container, on which commands then run with the option `target`. It sends the host program of
 * this package there if it is missing, starts it, and keeps the connection until `close()`: through cuts of up to
 * `detachMs`, in which work goes on there and calls wait. See docs/remote.md.
 *
 * Rejects with `ERR_BASH_TARGET` and its `reason` if the target cannot be reached, and with `ERR_BASH_INVALID_ARG` for
 * an option that does not exist or has the wrong type, and for an address that a program could take for an option.
 *
 * @example await using target = await connect({ ssh: 'dev@build1', cwd: '/srv/project' });
 */
export function connect(to: TargetAddress & ConnectOptions): Promise<Target> {
  return connectTo(to);
}

/**
 * Takes back what a run changed, and nothing else. A path that changed after the run is a conflict: the path stays, and
 * its state before the run is kept beside the store. Only things that the run created and that are unchanged since are
 * removed. Modes, links, empty directories and extended attributes are exact. Times are the times of the undo.
 *
 * Another undo in the same store is waited for. An undo that was killed is completed by the next call. Repeated, it
 * resolves empty. An undo is a run, too, and `undo(undoId)` undoes it.
 *
 * Rejects with `ERR_BASH_UNDO` if there is no point of this run, if it was evicted, or if the run still goes on: then
 * nothing is touched. Rejects with `ERR_BASH_INVALID_ARG` for a wrong type, never with a throw.
 *
 * @example const { restored, conflicts } = await undo(result.runId);
 * @param runId `result.runId`, the `runId` of an undo point, or an `undoId`.
 */
export function undo(runId: string, options?: UndoRunOptions): Promise<Undone> {
  return undoRun(runId, options);
}

/**
 * Lists the runs that can be undone, and those whose point was evicted, the newest first. Undos are runs, too: their
 * command is `undo RUN`. A run that still goes on is not listed.
 *
 * Points are kept for 7 days, up to `storeBytes`, and never in the last tenth of the disk. The oldest are evicted
 * first. Rejects with `ERR_BASH_UNDO` if the store cannot be read, and with `ERR_BASH_INVALID_ARG` for a wrong type.
 *
 * @example const [newest] = await undoPoints({ cwd: process.cwd() });
 */
export function undoPoints(options?: UndoPointsOptions): Promise<UndoPoint[]> {
  return listUndoPoints(options);
}

/**
 * Opens a draft: commands with it run in a copy-on-write view of a directory, at its own path, and what they change is
 * kept apart until `commit`. Copies nothing. Needs Linux with user namespaces, and an overlay on the file system of the
 * drafts. See docs/drafts.md.
 *
 * Rejects with `ERR_BASH_DRAFT` and its `reason` if the directory cannot be drafted, or there is no draft `id`, and
 * with `ERR_BASH_INVALID_ARG` for a wrong option. If this system has no overlay for it, the first command rejects, with
 * the reason `'unsupported'`.
 *
 * @example await using draft = await openDraft({ root: '/srv/project' });
 */
export function openDraft(options?: DraftOptions): Promise<Draft> {
  return open(options);
}

/**
 * Lists the drafts of this user on this machine, the newest first, whichever process has made them. Those that are no
 * longer kept are removed. Rejects with `ERR_BASH_INVALID_ARG` for a wrong option.
 *
 * @example const [newest] = await drafts({ root: '/srv/project' });
 */
export function drafts(options?: ListDraftsOptions): Promise<DraftInfo[]> {
  return list(options);
}

/**
 * Reads the ledger of this user, the newest entry first, with `follow` the oldest first and then entries as they are
 * written. A ledger that does not exist is empty. Damaged lines are passed over, and `agent-bash log` counts them.
 *
 * The iteration throws `ERR_BASH_INVALID_ARG` for an unknown option or a wrong type, and ends without an error when
 * `signal` aborts. Entries are kept for 90 days, and at most 256 MiB of them.
 *
 * @example for await (const { command, state } of readLedger({ failed: true, limit: 10 })) console.log(state, command);
 */
export function readLedger(options: ReadLedgerOptions = {}): AsyncIterable<LedgerEntry> {
  return entries(options);
}

const inner: Inner = {
  get NativeText() {
    return loadNative().NativeText;
  },
  options: OPTION_TABLES,
  outlineOf,
  facts,
  signalOf: (name) => loadNative().signalOf(name),
  noticeOfCut: (cut, whole) => loadNative().noticeOfCut(cut, whole),
  check: checkElsewhere,
  checkDraft,
  openIdleDraft: openIdle,
  secretsOf: (draft) => draftOf(draft)?.credentials.secrets,
  newOwner,
  checkAccess,
  defaults,
  reachOf,
  undoForecast,
  newestToUndo,
  staleOf,
  readLedger: (options, colours) => batches(options, colours),
  recordRefusal,
  undoPointsOf,
  listen,
  askPage,
  redact: (text) => loadNative().redact(text),
  isPool: (target) => poolOf(target) !== undefined,
  placeOf: (target, affinity) => placeOf(target, affinity),
  registryDirectory: (target) => registryDirectory(target as Target),
  hostsDirectory: () => loadNative().hostsDirectory(),
  invalid,
  instrumented: { undo: null },
  ownName: () => loadNative().ownName(),
  removeLeft: (parent, prefix) => loadNative().removeLeft(parent, prefix),
  removeAtEnd: (folder) => loadNative().removeAtEnd(folder),
  removeNoMore: (folder) => loadNative().removeNoMore(folder),
  offers: () => loadNative().offers(),
  hasUnreadInput: () => loadNative().hasUnreadInput(),
};
Object.defineProperty(bash, INNER, { value: inner });

/** The three policies for output that is too long. `tail` is the default of `truncate`. */
export const TRUNCATE = {
  /** The last 2000 lines or 50 KiB. */
  tail: { keep: 'tail', maxLines: 2000, maxBytes: 51_200 },
  /** 4 KiB of each end, of a stream of more than 128 KiB. */
  ends: { keep: 'ends', maxBytes: 131_072, headBytes: 4096, tailBytes: 4096 },
  /** The first 30,000 characters. */
  head: { keep: 'head', maxChars: 30_000 },
} as const satisfies Record<string, Truncate>;
