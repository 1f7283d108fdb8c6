/** The messages between the server of the page and the browser app, as types only: each side is built separately. */
import type { DraftInfo, Finding, HighlightToken, LedgerEntry, PathReason } from 'agent-bash';
import type { Ask, Changed, Ended, Output, Pool, Run, Screen } from './host/protocol.ts';

/** A project: the repository of a run's directory, or that directory. */
export interface Project {
  path: string;
  name: string;
}

/** A command to show. */
export interface PageCommand {
  /** The text without its secrets. */
  command: string;
  /** The parts that have different colours. */
  tokens: HighlightToken[];
}

/** A run, with an id that is unique among all hosts. */
export interface PageRun extends Omit<Run, 'key'>, PageCommand {
  /** The id of the run in requests. */
  id: string;
  /** The name of its host; `null` for a task whose host has ended. */
  host: string | null;
  project: Project;
}

/** The end of a run. */
export interface PageEnded extends Omit<Ended, 'key'> {
  id: string;
}

/** A part of a command about which the safety engine warns. */
export type PageFinding = Pick<Finding, 'level' | 'span' | 'message' | 'suggestion'>;

export interface PageAsk extends Omit<Ask, 'key'>, PageCommand {
  id: string;
  host: string;
  project: Project;
  /** The parts of the command that the reasons are about, in the order of the text. */
  findings: PageFinding[];
}

/** A host as the page shows it. */
export interface PageHost {
  id: string;
  pid: number;
  program: string;
  cwd: string;
}

/** A pool, with an id that is unique among all hosts. */
export interface PagePool extends Omit<Pool, 'key'> {
  id: string;
  host: string;
}

/** A draft of this user. */
export interface PageDraft extends Omit<DraftInfo, 'hosts'> {
  project: Project;
  /** The number of paths that were changed outside of the draft as well. */
  conflicts: number;
}

/** The first event of a stream. */
export interface Welcome {
  /** The id of the stream in requests. */
  stream: string;
  control: boolean;
  version: string;
  home: string;
}

/** Everything that the page shows. It replaces all earlier state. */
export interface PageState {
  runs: PageRun[];
  ended: PageEnded[];
  asks: PageAsk[];
  hosts: PageHost[];
  pools: PagePool[];
  drafts: PageDraft[];
}

/** What changed since the last event. */
export interface PageChange {
  runs: PageRun[];
  ended: PageEnded[];
  asks: PageAsk[];
  /** The ids of asks that are closed. */
  answered: string[];
  /** The ids of runs that are no longer shown. */
  removed: string[];
  /** All hosts; `null` if they did not change. */
  hosts: PageHost[] | null;
  /** Pools that are new or have reported themselves. */
  pools: PagePool[];
  /** The ids of pools that are gone. */
  poolsGone: string[];
  /** All drafts; `null` if they did not change. */
  drafts: PageDraft[] | null;
}

/** Output of the followed run. With `start`, it replaces all earlier output. */
export interface PageOutput extends Omit<Output, 'run' | 'at'> {
  run: string;
  start: boolean;
}

export interface PageScreen extends Omit<Screen, 'run'> {
  run: string;
}

/** The reason why the followed run has no output to show. */
export interface PageNoOutput {
  run: string;
  why: string;
}

/** The events of a stream, by name. */
export interface PageEvents {
  welcome: Welcome;
  state: PageState;
  change: PageChange;
  output: PageOutput;
  screen: PageScreen;
  'no-output': PageNoOutput;
}

/** A refusal of the server, as JSON. */
export interface PageFailure {
  error: { code: string; message: string };
}

/** A run of the ledger. */
export interface HistoryEntry extends LedgerEntry, PageCommand {
  project: Project;
  /** How much of its changes an undo reverts; `null` if the run cannot be undone. */
  undo: 'all' | 'part' | null;
}

/** The counts of the runs that began in one interval. */
export interface HistoryBar {
  runs: number;
  failed: number;
}

/** The runs of the ledger that match the filters, newest first. */
export interface PageHistory {
  entries: HistoryEntry[];
  /** The counts of all matching runs. `entries` has the newest of them. */
  runs: number;
  failed: number;
  lost: number;
  /** Whether more runs match than were counted. */
  more: boolean;
  /** The start of the first bar and the end of the last, Unix time in ms. */
  from: number;
  until: number;
  bars: HistoryBar[];
  /** The projects and agents of the matching runs, sorted by name. */
  projects: Project[];
  agents: string[];
  /** The targets of the matching runs, sorted. */
  targets: string[];
}

/** The details of a run, requested when a person opens it. */
export interface PageDetails {
  findings: PageFinding[];
  /** The run in the ledger; `null` if the ledger does not have it. */
  entry: HistoryEntry | null;
}

/** What an undo would do, or has done, with at most 200 items of each kind. */
export interface PageUndo {
  restored: string[];
  removed: string[];
  conflicts: { path: string; why: string }[];
  /** Effects that no undo reverts, in words. */
  notCovered: string[];
  /** The number of paths beyond those listed. */
  more: number;
}

/** The changes of a draft, requested when a person opens it. */
export interface PageDraftChanges extends Pick<DraftInfo, 'bytes' | 'counts'> {
  /** At most 200 changes of each kind, sorted by path. */
  changes: Changed[];
  /** At most 200 paths that were changed outside of the draft as well. */
  conflicts: PathReason[];
  /** The number of conflicts beyond those listed. */
  moreConflicts: number;
  /** The first 256 KiB of the changes as a patch for git. Its beginning says what is missing. */
  patch: string;
}

/** One changed path of a draft: the project as it is now beside the draft. */
export interface PageDraftFile {
  /** The change; `null` for a part of a repository, which is not shown. */
  change: Changed | null;
  /** The change as a patch for git, with the whole file around it if it is short. */
  patch: string;
}

/** What a commit of a draft has done, with at most 200 items of each kind. */
export interface PageCommit {
  applied: string[];
  /** The paths that stay in the draft. */
  skipped: PathReason[];
  /** The paths that stopped the commit. Nothing was committed then. */
  conflicts: PathReason[];
  /** The number of items beyond those listed. */
  more: number;
  /** The run that an undo takes back; `''` if nothing was committed. */
  undoId: string;
  /** Whether nothing is left of the draft. */
  isOver: boolean;
}
