import type { Confinement, Receipt, StaleFile, UndoCoverage } from 'agent-bash';
import type {
  BashContextSchema,
  BashInputIssue,
  BashToolAccess,
  BashToolError,
  BashToolExecutionOptions,
  BashToolModelOutput,
} from '../types.ts';

/**
 * The input that the model sends: an `action` and its fields. All others may be `null` or missing: strict modes send
 * every field, other models leave them out. A field of another action is ignored with a note, except `command` and `id`
 * together.
 */
export interface TerminalToolInput {
  action: 'start' | 'send' | 'read' | 'wait' | 'resize' | 'stop' | 'list';
  /** The terminal. May be left out while there is only one. Not with `start`, which returns the id. */
  id?: string | null | undefined;
  /** `start`: the command, run by `bash -c`. */
  command?: string | null | undefined;
  /** `start`: the directory to start in, resolved against the tool's. */
  cwd?: string | null | undefined;
  /** `start`, `resize`: columns, 1 to 500. Default 80, or the present number. */
  cols?: number | null | undefined;
  /** `start`, `resize`: rows, 1 to 200. Default 24, or the present number. */
  rows?: number | null | undefined;
  /**
   * `send`: text to type, before all else. The end of a line is Enter. `wait`: text that is to appear on the screen. At
   * most 100,000 characters.
   */
  text?: string | null | undefined;
  /** `send`: text to paste, after `text`: in one piece if the program supports pasting, else as if typed. */
  paste?: string | null | undefined;
  /**
   * `send`: keys by name, pressed in turn after `text` and `paste`, at most 1,000. A string of names with blanks
   * between them is accepted.
   */
  keys?: readonly string[] | string | null | undefined;
  /**
   * `wait`: a regular expression for the text of the whole screen, rows joined by newlines. `$` is the end of this
   * text.
   */
  pattern?: string | null | undefined;
  /** `wait`: until the program has written nothing for this long, 1 to 60,000 ms. */
  idle_ms?: number | null | undefined;
  /** `wait`: time limit, clamped to 1 … 300,000 ms. Default 10,000. */
  timeout_ms?: number | null | undefined;
  /**
   * `start`, `send`, `read`, `wait`, `resize`: only the rows that differ from the model's last view of this terminal,
   * numbered. Default: the whole screen.
   */
  changed?: boolean | null | undefined;
  /** `start`: more than the confinement allows, for this command. The host is asked; only with `onAccess`. */
  access?: BashToolAccess | null | undefined;
}

/**
 * The reason why a call read the screen at that moment: at once, the screen had settled, the awaited text appeared, the
 * program was quiet, the program had ended, the time was over, or the call was interrupted.
 */
export type TerminalReason = 'now' | 'settled' | 'appeared' | 'idle' | 'ended' | 'timeout' | 'interrupted';

/** How a program in a terminal ended, as in `BashResult`. */
export interface TerminalEnd {
  status: 'exited' | 'signaled' | 'timed-out' | 'aborted' | 'lost';
  /** 128+n after signal n, 124 at the limit, 130 when it was stopped; `null` if the program is lost. */
  exitCode: number | null;
  /** The signal that really ended the shell (`'SIGKILL'`), or `null`. */
  signal: string | null;
}

/** A terminal, as `list` shows it. */
export interface TerminalState {
  /** `t1`, `t2` …: never given twice by a tool. */
  id: string;
  command: string;
  /** Process id of the shell. */
  pid: number;
  cols: number;
  rows: number;
  /** `null` while the program runs. */
  end: TerminalEnd | null;
}

/** The screen of a terminal. */
export interface TerminalView extends TerminalState {
  reason: TerminalReason;
  /** The rows from the top, right-trimmed, without the blank ones at the end. */
  lines: string[];
  /**
   * With `changed`: the rows that differ from the rows that the model saw last, 0-based, with their text. Otherwise
   * `null`.
   */
  changed: { row: number; text: string }[] | null;
  /** 0-based. */
  cursor: { row: number; col: number };
  /** The window title that the program has set; `''` without one. */
  title: string;
  /** Whether the program uses the whole screen, as editors and pagers do (the alternate screen). */
  alternate: boolean;
  /**
   * The parts that the confinement of an ended program held, and the denials; `null` while it runs, and without
   * confinement.
   */
  confinement: Confinement | null;
  /** Names the run of an ended program, for `undo`; `null` while it runs. */
  runId: string | null;
  /** The changes of an ended program; `null` while it runs, and without `receipt` and `undo`. */
  receipt: Receipt | null;
  /** How much `undo(runId)` takes back; `null` while it runs, and if it cannot be undone. */
  undo: UndoCoverage | null;
  /** The files of the option `knownFiles` that an ended program changed; `null` while it runs. */
  stale: StaleFile[] | null;
  /** Facts that the model should know, one per line. */
  notes: string[];
}

/** The output of `list`: the running terminals, and the last terminals that have ended. */
export interface TerminalList {
  terminals: TerminalState[];
}

/** The output of a call. Plain data throughout; `'error' in` and `'terminals' in` tell them apart. */
export type TerminalToolOutput = TerminalView | TerminalList | BashToolError;

/** A Standard Schema with its JSON Schema, which both majors take as it is. */
export interface TerminalInputSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'agent-bash';
    readonly types?: { readonly input: TerminalToolInput; readonly output: TerminalToolInput } | undefined;
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: TerminalToolInput; readonly issues?: undefined }
      | { readonly issues: readonly BashInputIssue[] };
    readonly jsonSchema: {
      /** A new object each time, since consumers change it. Throws for targets other than JSON Schema drafts. */
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

/** A tool for ai 6 and ai 7: `{ terminal: createTerminalTool() }` goes straight into `tools`. */
export interface TerminalTool {
  description: string;
  inputSchema: TerminalInputSchema;
  /** Lets anything through; ai 6 does not look at it. */
  contextSchema: BashContextSchema;
  /** Learns the signal of a call that an approval is asked about next, so that an abort withdraws the question. */
  onInputAvailable: (call: { toolCallId: string; abortSignal?: AbortSignal | undefined }) => void;
  /**
   * Never throws. If the signal aborts, the call returns the present screen. The program goes on, unless this very call
   * has started it.
   */
  execute: (input: TerminalToolInput, options: BashToolExecutionOptions) => Promise<TerminalToolOutput>;
  /**
   * Returns the text of an output: the screen below a line that names its terminal, the list, or the message of an
   * error.
   */
  toModelOutput: (options: { toolCallId?: string; input?: unknown; output: TerminalToolOutput }) => BashToolModelOutput;
  /**
   * Ends all terminals and all that they started. Later calls are `{ error }`, `ERR_BASH_CLOSED`. May be called again.
   */
  close: () => Promise<void>;
  /** Same as `close()`. */
  [Symbol.asyncDispose]: () => Promise<void>;
}
