/** The messages between the server of the page and its browser. Types only: both sides are built apart. */
import type { Finding, HighlightToken, LedgerEntry } from 'agent-bash';
import type { Ask, Ended, Output, Run, Screen } from './host/protocol.ts';

/** A project: the repository of a run's directory, or that directory. */
export interface Project {
  path: string;
  name: string;
}

/** A command for people. */
export interface PageCommand {
  /** Without its secrets. */
  command: string;
  /** The parts that are told apart by colour. */
  tokens: HighlightToken[];
}

/** A run, named among those of all hosts. */
export interface PageRun extends Omit<Run, 'key'>, PageCommand {
  /** Names it in requests. */
  id: string;
  /** The name of its host; `null` for a task whose host has ended. */
  host: string | null;
  project: Project;
}

/** The end of a run. */
export interface PageEnded extends Omit<Ended, 'key'> {
  id: string;
}

/** A part of a command that the safety engine has something to say about. */
export type PageFinding = Pick<Finding, 'level' | 'span' | 'message' | 'suggestion'>;

export interface PageAsk extends Omit<Ask, 'key'>, PageCommand {
  id: string;
  host: string;
  project: Project;
  /** The parts that the reasons are about, as far as they are known, in the order of the text. */
  findings: PageFinding[];
}

/** A host as the page shows it. */
export interface PageHost {
  id: string;
  pid: number;
  program: string;
  cwd: string;
}

/** The first event of a stream. */
export interface Welcome {
  /** Names the stream in requests. */
  stream: string;
  control: boolean;
  version: string;
  home: string;
}

/** All that the page shows, in the place of all that it showed before. */
export interface PageState {
  runs: PageRun[];
  ended: PageEnded[];
  asks: PageAsk[];
  hosts: PageHost[];
}

/** What changed since the last event. */
export interface PageChange {
  runs: PageRun[];
  ended: PageEnded[];
  asks: PageAsk[];
  /** The asks that are not open any more. */
  answered: string[];
  /** Runs that are to be shown no more. */
  removed: string[];
  /** All hosts, if one has come or gone. */
  hosts: PageHost[] | null;
}

/** Output of the followed run. With `start` it takes the place of all that was shown before. */
export interface PageOutput extends Omit<Output, 'run' | 'at'> {
  run: string;
  start: boolean;
}

export interface PageScreen extends Omit<Screen, 'run'> {
  run: string;
}

/** The followed run has no output that could be shown. */
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
  /** How much of it an undo takes back; `null` if it cannot be undone. */
  undo: 'all' | 'part' | null;
}

/** The numbers of runs that began in one part of the time. */
export interface HistoryBar {
  runs: number;
  failed: number;
}

/** The runs of the ledger that fit the filters, the newest first. */
export interface PageHistory {
  entries: HistoryEntry[];
  /** The numbers of all runs that fit, of which `entries` are the newest. */
  runs: number;
  failed: number;
  lost: number;
  /** Whether there are more than were counted. */
  more: boolean;
  /** The time of the first and the end of the last bar, Unix ms, oldest first. */
  from: number;
  until: number;
  bars: HistoryBar[];
  /** The names that a filter may have, sorted. */
  projects: Project[];
  agents: string[];
}

/** All about one run beyond its state: read when a person opens it. */
export interface PageDetails {
  findings: PageFinding[];
  /** The run in the ledger; `null` if that does not have it. */
  entry: HistoryEntry | null;
}

/** What an undo would do, or has done. At most 200 paths of each kind; `more` counts the others. */
export interface PageUndo {
  restored: string[];
  removed: string[];
  conflicts: { path: string; why: string }[];
  notCovered: string[];
  more: number;
}
