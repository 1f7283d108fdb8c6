/**
 * The messages on the socket of a host: one JSON object per line. `crates/host/src/message.rs` is the other side, and
 * `__test__/host/messages.json` has an example of each.
 */

/** The version that this page speaks. */
export const PROTOCOL = 1;
/** Bytes of a line that a host sends at most. */
export const LINE_BYTES = 256 * 1024;

/** Who asked for a command. */
export interface Actor {
  agent?: string;
  session?: string;
  toolCallId?: string;
  user?: string;
}

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

export interface ChangeCounts {
  created: number;
  modified: number;
  deleted: number;
  renamed: number;
}

export interface Ended {
  key: string;
  state: EndState;
  exitCode: number | null;
  signal: string | null;
  /** Unix time in ms. */
  endedAt: number;
  receipt: ChangeCounts | null;
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
