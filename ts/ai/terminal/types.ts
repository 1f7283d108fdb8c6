import type {
  BashContextSchema,
  BashInputIssue,
  BashToolError,
  BashToolExecutionOptions,
  BashToolModelOutput,
} from '../types.ts';

/**
 * What the model sends: an `action`, and what belongs to it. All else may be `null` or missing: strict modes send every field, other
 * models leave them out. A field that does not belong to the action is ignored with a note, but for `command` and `id` together.
 */
export interface TerminalToolInput {
  action: 'start' | 'send' | 'read' | 'wait' | 'resize' | 'stop' | 'list';
  /** Which terminal; may be left out while there is one only. Not with `start`, which gives it. */
  id?: string | null | undefined;
  /** `start`: the command, run by `bash -c`. */
  command?: string | null | undefined;
  /** `start`: the folder to start in, resolved against the tool's. */
  cwd?: string | null | undefined;
  /** `start`, `resize`: columns, 1 to 500; default 80, or what they are. */
  cols?: number | null | undefined;
  /** `start`, `resize`: rows, 1 to 200; default 24, or what they are. */
  rows?: number | null | undefined;
  /** `send`: what is typed, before all else; the end of a line is Enter. `wait`: what is to appear on the screen. At most 100,000 characters. */
  text?: string | null | undefined;
  /** `send`: what is pasted, behind `text`: as one piece where the program knows pasting, else as if it were typed. */
  paste?: string | null | undefined;
  /** `send`: keys by name, pressed in turn behind `text` and `paste`; at most 1,000. One string of names with blanks between them will do. */
  keys?: readonly string[] | string | null | undefined;
  /** `wait`: a regular expression for the text of the whole screen, rows joined by newlines; `$` is the end of that. */
  pattern?: string | null | undefined;
  /** `wait`: until the program has written nothing for that long, 1 to 60,000 ms. */
  idle_ms?: number | null | undefined;
  /** `wait`: at most that long, clamped to 1 … 300,000 ms; default 10,000. */
  timeout_ms?: number | null | undefined;
  /** `start`, `send`, `read`, `wait`, `resize`: only the rows that differ from what the model has last seen of this terminal, numbered. Default: the whole screen. */
  changed?: boolean | null | undefined;
}

/**
 * Why a call has looked at the screen when it did: at once, when it had settled, when what was waited for appeared, the program was quiet
 * or had ended, when the time was over, or because the call was interrupted.
 */
export type TerminalReason = 'now' | 'settled' | 'appeared' | 'idle' | 'ended' | 'timeout' | 'interrupted';

/** How a program in a terminal ended; as in `BashResult`. */
export interface TerminalEnd {
  status: 'exited' | 'signaled' | 'timed-out' | 'aborted';
  /** 128+n after signal n, 124 at the limit, 130 when it was stopped. */
  exitCode: number;
  /** What really ended the shell (`'SIGKILL'`), or `null`. */
  signal: string | null;
}

/** One terminal, as `list` shows it. */
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

/** What is on a screen. */
export interface TerminalView extends TerminalState {
  reason: TerminalReason;
  /** The rows from the top, right-trimmed, without the blank ones at the end. */
  lines: string[];
  /** With `changed`: the rows that differ from what the model saw last, 0-based, with their text; else `null`. */
  changed: { row: number; text: string }[] | null;
  /** 0-based. */
  cursor: { row: number; col: number };
  /** What the program calls its window; `''` when it has said nothing. */
  title: string;
  /** Whether the program uses the whole screen, as editors and pagers do (the alternate screen). */
  alternate: boolean;
  /** One fact a line that the model should know. */
  notes: string[];
}

/** What `list` gives: those that run, and the last ones that have ended. */
export interface TerminalList {
  terminals: TerminalState[];
}

/** What a call gives. Plain data throughout; `'error' in` and `'terminals' in` tell them apart. */
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
  /** Never throws. When the signal aborts, a call returns with what is on the screen; the program goes on, but for one that this very call has started. */
  execute: (input: TerminalToolInput, options: BashToolExecutionOptions) => Promise<TerminalToolOutput>;
  /** The text of an output: the screen below a line that says whose it is, the list, or the message of an error. */
  toModelOutput: (options: { toolCallId?: string; input?: unknown; output: TerminalToolOutput }) => BashToolModelOutput;
  /** Ends all terminals and all they started; calls after it are `{ error }`, `ERR_BASH_CLOSED`. May be called again. */
  close: () => Promise<void>;
  /** The same as `close()`. */
  [Symbol.asyncDispose]: () => Promise<void>;
}
