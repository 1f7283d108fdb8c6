/**
 * The messages on the socket of a host, one JSON object per line. `crates/host/src/host_message.rs` is the other side,
 * and `__test__/host/messages.json` has an example of each.
 */

import type { Actor, BashUsage, ChangeCounts, Denial, GitChange, Receipt, SecretUse } from 'agent-bash';

/** The version of the protocol that this page speaks. */
export const PROTOCOL = 1;
/** Most bytes of a line from a host. */
export const LINE_BYTES = 256 * 1024;

/** How a host describes itself. */
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

/** A live run. */
export interface Run {
  /** The id of the run in its host. */
  key: string;
  runId: string;
  kind: RunKind;
  /** The command without its secrets, at most 8 KB. */
  command: string;
  cwd: string;
  /** The id of the target that runs it; `null`: its host's machine does. */
  target: string | null;
  actor: Actor | null;
  /** Unix time in ms. */
  startedAt: number;
  state: 'running' | 'waiting';
  waiting: { why: 'prompt' | 'stopped' | 'input'; text: string } | null;
  lastLine: string;
  /** The time limit in ms, from the start; `null` if there is none. */
  limitMs: number | null;
  /** The limit of silence in ms; `null` if there is none. */
  idleMs: number | null;
  /** The profile of its confinement; `null` if it is not confined. */
  confinement: string | null;
  /** Columns and rows of its terminal; `null` if it has none. */
  size: [columns: number, rows: number] | null;
  /** The number of live processes; `null` if they were not counted yet, or a target runs it. */
  processes: number | null;
  /** CPU time so far, in ms; `null` if it is not known. */
  cpuMs: number | null;
  /** Memory in bytes; `null` if it is not known. */
  memory: number | null;
  pid: number | null;
  taskId: string | null;
  ports: { port: number; address: string }[];
  /** Whether the run can be undone once it has ended. */
  undo: boolean;
  /** Whether the run takes input from a person. */
  stdin: boolean;
}

/** How a command ended, with the states of the ledger. */
export type EndState = 'exited' | 'signaled' | 'timed-out' | 'aborted' | 'backgrounded' | 'refused' | 'lost';

/** A file or directory that was changed. */
export interface Changed {
  kind: 'created' | 'modified' | 'deleted' | 'renamed';
  /** The absolute path after the run; for a deleted file, before the run. */
  path: string;
  /** The path before a rename. */
  from?: string;
  /** `null` for a rename. */
  type: string | null;
  /** The size after the run, in bytes; `null` for a deleted file and a kind without a size. */
  bytes: number | null;
  /** The size before the run, in bytes; `null` for a created file and a kind without a size. */
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
  /** What ended the run; `null` if it exited by itself. */
  cause: string | null;
  /** The time limit in ms, or the limit of silence if that is the `cause`; `null` if there is none. */
  limitMs: number | null;
  durationMs: number | null;
  usage: BashUsage | null;
  outputPath: string | null;
  taskId: string | null;
  /** The first different denials. */
  denials: Denial[];
  /** The number of all denied attempts. */
  denied: number;
  /** The first different uses of secrets. */
  secrets: SecretUse[];
  /** The counts of all changes; `null` without a receipt. */
  receipt: ChangeCounts | null;
  receiptState: Receipt['state'] | null;
  /** Why the receipt is not complete, in words; `null` if it is. */
  receiptWhy: string | null;
  attribution: Receipt['attribution'] | null;
  /** The first changes; `null` without a receipt. */
  changes: Changed[] | null;
  /** Large ignored directories that changed. Their files are not in `changes`. */
  directories: string[];
  git: GitChange[];
  /** The extent of an undo; `null` if the run cannot be undone. */
  undo: { covers: 'all' | 'part'; notCovered: string[]; bytes: number } | null;
}

/** How much of a command's changes an undo would revert. */
export type UndoCover = 'full' | 'part' | 'none';

/** A command that waits for a person to allow it. */
export interface Ask {
  /** The id of the ask in its host. */
  key: string;
  command: string;
  cwd: string;
  actor: Actor | null;
  verdict: string;
  rules: string[];
  /** Why the command needs approval, in words. */
  reasons: string[];
  /** How much an undo would revert; `null` if the tool has no undo. */
  undo: UndoCover | null;
  /** Unix time in ms. */
  askedAt: number;
}

/** Output of a followed run. Its only escape sequences are those of styles. */
export interface Output {
  run: string;
  /** The offset of the text in the whole output, in bytes. */
  at: number;
  text: string;
  /** The number of bytes that were dropped before this text. */
  gap: number;
  end: boolean;
}

/** The screen of a followed terminal. */
export interface Screen {
  run: string;
  rows: number;
  columns: number;
  lines: string[];
  /** Row and column, from 0; `null` if the host sent no valid place. */
  cursor: [row: number, column: number] | null;
  title: string;
  end: boolean;
}

/** A place of a pool, as in `PlaceStats`. */
export interface PoolPlace {
  id: string;
  state: string;
  running: number;
  queued: number;
  /** 0: not known. */
  load: number;
  /** Bytes. 0: not known. */
  memoryFree: number;
  /** Unix time in ms; `null`: it is not avoided. */
  brokenUntil: number | null;
}

/** A pool of targets, as it last reported itself. */
export interface Pool {
  /** The id of the pool in its host. */
  key: string;
  /** Unix time in ms. */
  reportedAt: number;
  /** The most runs on a place at once. */
  perTarget: number;
  /** The number of calls that wait for any place. */
  waiting: number;
  /** The first places. */
  places: PoolPlace[];
  /** The number of all places. */
  count: number;
}

export interface Change {
  runs: Run[];
  ended: Ended[];
  asks: Ask[];
  answered: string[];
  pools: Pool[];
  poolsGone: string[];
}

/** A message of a host. */
export type HostMessage =
  | { hello: HostHello }
  | { error: { code: string; message: string } }
  | { re: number; ok: true }
  | { re: number; error: { code: string; message: string } }
  | { state: { runs: Run[]; asks: Ask[]; pools: Pool[] } }
  | { change: Change }
  | { output: Output }
  | { screen: Screen };

/** A request to a host, without its number. */
export type HostRequest =
  | { do: 'watch' }
  | { do: 'follow' | 'unfollow' | 'stop'; run: string }
  | { do: 'input'; run: string; text: string }
  | { do: 'answer'; ask: string; approved: boolean; reason?: string };
