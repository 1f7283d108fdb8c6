/**
 * The messages on the socket of a host: one JSON object per line. `crates/host/src/message.rs` is the other side, and
 * `__test__/host/messages.json` has an example of each.
 */

import type { Actor, BashUsage, ChangeCounts, Denial, GitChange, Receipt } from 'agent-bash';

/** The version that this page speaks. */
export const PROTOCOL = 1;
/** Bytes of a line that a host sends at most. */
export const LINE_BYTES = 256 * 1024;

/** A host, as it names itself. */
export interface HostHello {
  protocol: number;
  pid: number;
  program: string;
  cwd: string;
  /** Unix time in ms. */
  startedAt: number;
  version: string;
}

export type RunKind = 'command' | 'task' | 'session' | 'terminal';

/** A command that runs. */
export interface Run {
  /** Names it in its host. */
  key: string;
  runId: string;
  kind: RunKind;
  /** Without its secrets, at most 8 KB. */
  command: string;
  cwd: string;
  actor: Actor | null;
  /** Unix time in ms. */
  startedAt: number;
  state: 'running' | 'waiting';
  waiting: { why: 'prompt' | 'stopped' | 'input'; text: string } | null;
  lastLine: string;
  /** The time limit from its start, ms; `null` if there is none. */
  limitMs: number | null;
  /** The longest silence that is allowed, ms; `null` if any is. */
  idleMs: number | null;
  /** The profile of its confinement; `null` if it is not confined. */
  confinement: string | null;
  /** Columns and rows of its terminal; `null` if it has none. */
  size: [columns: number, rows: number] | null;
  /** Processes that live; `null` if they were not counted yet. */
  processes: number | null;
  /** CPU time so far; `null` if it is not known. */
  cpuMs: number | null;
  /** Bytes; `null` if it is not known. */
  memory: number | null;
  pid: number | null;
  taskId: string | null;
  ports: { port: number; address: string }[];
  /** Whether it can be undone once it has ended. */
  undo: boolean;
  /** Whether it takes input of a person. */
  stdin: boolean;
}

/** How a command ended, with the states of the ledger. */
export type EndState = 'exited' | 'signaled' | 'timed-out' | 'aborted' | 'backgrounded' | 'refused' | 'lost';

/** A file or directory that was changed. */
export interface Changed {
  kind: 'created' | 'modified' | 'deleted' | 'renamed';
  /** The absolute path: after the run, of a deleted file before it. */
  path: string;
  /** The path before a rename. */
  from?: string;
  /** `null` for a rename. */
  type: string | null;
  /** The size after the run, bytes. */
  bytes: number | null;
  /** The size before the run, bytes. */
  bytesBefore: number | null;
}

/** How a run ended. */
export interface Ended {
  key: string;
  state: EndState;
  exitCode: number | null;
  signal: string | null;
  /** Unix time in ms. */
  endedAt: number;
  /** What has ended it; `null` if it exited by itself. */
  cause: string | null;
  /** The time limit, ms. If `cause` is the silence, the longest silence. */
  limitMs: number | null;
  durationMs: number | null;
  usage: BashUsage | null;
  outputPath: string | null;
  taskId: string | null;
  /** The first denials, each once. */
  denials: Denial[];
  /** The number of all attempts. */
  denied: number;
  /** The numbers of all changes; `null` without a receipt. */
  receipt: ChangeCounts | null;
  receiptState: Receipt['state'] | null;
  /** Why the receipt is not complete, in a sentence. */
  receiptWhy: string | null;
  attribution: Receipt['attribution'] | null;
  /** The first changes; `null` without a receipt. */
  changes: Changed[] | null;
  /** Large ignored directories that changed and are not listed file by file. */
  directories: string[];
  git: GitChange[];
  /** The extent of an undo; `null` if the run cannot be undone. */
  undo: { covers: 'all' | 'part'; notCovered: string[]; bytes: number } | null;
}

/** How much of its changes an undo would take back. */
export type UndoCover = 'full' | 'part' | 'none';

/** A command that waits for a person to allow it. */
export interface Ask {
  /** Names it in its host. */
  key: string;
  command: string;
  cwd: string;
  actor: Actor | null;
  verdict: string;
  rules: string[];
  /** Sentences. */
  reasons: string[];
  /** `null`: its tool has no undo. */
  undo: UndoCover | null;
  /** Unix time in ms. */
  askedAt: number;
}

/** Output of a followed run. Of escape sequences only those of styles are left. */
export interface Output {
  run: string;
  /** Place of the text in the whole output, in bytes. */
  at: number;
  text: string;
  /** Bytes that were dropped before this text. */
  gap: number;
  end: boolean;
}

/** The screen of a followed terminal. */
export interface Screen {
  run: string;
  rows: number;
  columns: number;
  lines: string[];
  /** Row and column, from 0. */
  cursor: [row: number, column: number] | null;
  title: string;
  end: boolean;
}

export interface Change {
  runs: Run[];
  ended: Ended[];
  asks: Ask[];
  answered: string[];
}

export type HostErrorCode = 'protocol' | 'gone' | 'invalid' | 'busy' | 'refused';

/** A message of a host. */
export type HostMessage =
  | { hello: HostHello }
  | { error: { code: string; message: string } }
  | { re: number; ok: true }
  | { re: number; error: { code: string; message: string } }
  | { state: { runs: Run[]; asks: Ask[] } }
  | { change: Change }
  | { output: Output }
  | { screen: Screen };

/** A request to a host, without its number. */
export type HostRequest =
  | { do: 'watch' }
  | { do: 'follow' | 'unfollow' | 'stop'; run: string }
  | { do: 'input'; run: string; text: string }
  | { do: 'answer'; ask: string; approved: boolean; reason?: string };
