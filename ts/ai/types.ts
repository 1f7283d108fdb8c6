import type { BackgroundCheck, BashOptions, BashResult, bash } from 'agent-bash';

/**
 * What the model sends: exactly one of `command`, `check_pid` and `kill_pid`, the other fields with a command. All may be
 * `null` or missing: strict modes send every field, other models leave them out.
 */
export interface BashToolInput {
  /** The command, byte for byte; a trailing `| head …` or `| tail …` becomes a limit where that keeps its meaning. */
  command?: string | null | undefined;
  /** `'default'` 30 s (120 s when it then moves to the background), `'slow'` 15 min, `'background'` returns at once; `null` takes the tool's `mode`. */
  mode?: 'default' | 'slow' | 'background' | null | undefined;
  /** The time limit in ms, clamped to 1,000 … 3,600,000 (in the background … 86,400,000) with a note; it goes before the tool's `timeoutMs` and before any mode. */
  timeout_ms?: number | null | undefined;
  /** The folder to start in, resolved against the tool's folder; `null` is the tool's folder. */
  cwd?: string | null | undefined;
  /** Only the first lines of each stream, a whole number of at least 1; the command is ended 2 s after that line of stdout. */
  head?: number | null | undefined;
  /** Only the last lines of each stream, a whole number of at least 1. */
  tail?: number | null | undefined;
  /** The state and the new output of the background process with this pid. */
  check_pid?: number | null | undefined;
  /** Ends the background process with this pid and all it started. */
  kill_pid?: number | null | undefined;
}

/** Nothing ran. Never a throw: the model reads `error` as the result of its call. */
export interface BashToolError {
  /** A sentence that names what was wrong. */
  error: string;
  /** The code of `bash()`'s rejection; `ERR_BASH_INVALID_ARG` for bad input or a throw in `perCall`; `ERR_BASH_BLOCKED` for a throw in `onBeforeRun`; `ABORT_ERR` for a check or a kill that was interrupted. */
  code: string;
}

/** A command that still runs, in preliminary results only: a new object each time, the last 8 KiB of each stream. */
export interface BashToolSnapshot {
  status: 'running';
  stdout: string;
  stderr: string;
  exitCode: null;
  /** Process id, also the process group id. */
  pid: number;
  /** Since the start of the process, in ms. */
  durationMs: number;
}

/**
 * What a call yields: snapshots while the command runs, then one result, or one error when nothing ran; for `check_pid` and
 * `kill_pid` one check. Plain data throughout. `'error' in`, `'task' in` and `status` tell them apart.
 */
export type BashToolOutput = BashResult | BackgroundCheck | BashToolError | BashToolSnapshot;

/** What a hook gives back: something in place of what it was given, or nothing, now or later. */
export type Hooked<T> = T | Nothing | Promise<T | Nothing>;
// biome-ignore lint/suspicious/noConfusingVoidType: a hook may be a function without a return.
type Nothing = void;

/** What `perCall` is asked with. */
export interface BashToolCall {
  /** `experimental_context` of the call (ai 6) or `toolsContext.bash` (ai 7); `undefined` when there is none. */
  context: unknown;
  toolCallId: string;
}

/** Options of `bash()` that hold for every call, and those of the tool. `undefined` counts as left out. */
export interface BashToolOptions
  extends Omit<BashOptions, 'signal' | 'onOutput' | 'onSnapshot' | 'snapshotIntervalMs'> {
  /** Asked on each call; what it returns replaces these options one by one. A throw is `{ error }` and runs nothing. `description` and `perCall` have no effect here. */
  perCall?: ((call: BashToolCall) => Partial<BashToolOptions> | undefined) | undefined;
  /** The model gets a non-zero exit code as an error text. Default `false`: as an ordinary text that says so. */
  errorOnFailure?: boolean | undefined;
  /** Takes the place of `bash`, for tests. */
  run?: typeof bash | undefined;
  /** The least time between two live snapshots in ms, 10 to 60,000 (others are clamped). Default 250; 0 turns them off. */
  updateIntervalMs?: number | undefined;
  /** In place of the description written here; a function is asked once, with the tool's folder. */
  description?: string | ((context: { cwd: string }) => string) | undefined;
  /** Before anything starts, with the model's command, and not for `check_pid` and `kill_pid`; may put another in its place. A throw is `{ error }` and runs nothing. */
  onBeforeRun?: ((input: { command: string }) => Hooked<{ command: string }>) | undefined;
  /** After a run, or a refusal to run, with the command as `onBeforeRun` left it; may put another output in its place. A throw is a note in the result. */
  onAfterRun?: ((input: { command: string; result: BashToolOutput }) => Hooked<BashToolOutput>) | undefined;
}

/** The second argument of `execute`, as far as the tool reads it, of both majors. */
export interface BashToolExecutionOptions {
  toolCallId: string;
  messages?: unknown;
  /** Ends the command; the call then yields its output up to that point, with status `'aborted'`. */
  abortSignal?: AbortSignal | undefined;
  /** The context of ai 6. */
  experimental_context?: unknown;
  /** The context of ai 7. */
  context?: BashToolContext | undefined;
}

/** What the model reads of an output. */
export type BashToolModelOutput = { type: 'text'; value: string } | { type: 'error-text'; value: string };

/** A reason why an input is not valid. */
export interface BashInputIssue {
  message: string;
  path: [string] | [];
}

/** A Standard Schema with its JSON Schema, which both majors take as it is. */
export interface BashInputSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'agent-bash';
    readonly types?: { readonly input: BashToolInput; readonly output: BashToolInput } | undefined;
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: BashToolInput; readonly issues?: undefined }
      | { readonly issues: readonly BashInputIssue[] };
    readonly jsonSchema: {
      /** A new object each time, since consumers change it. Throws for targets other than JSON Schema drafts. */
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

/** The context that `perCall` is asked with, as ai 7 is told of it: any object, or none. Without it, `toolsContext` would have no place for this tool. */
export interface BashContextSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'agent-bash';
    readonly types?:
      | { readonly input: BashToolContext | undefined; readonly output: BashToolContext | undefined }
      | undefined;
    readonly validate: (value: unknown) => { readonly value: BashToolContext | undefined; readonly issues?: undefined };
  };
}

/** The app's own context of a call. */
export type BashToolContext = Record<string, unknown>;

/** A tool for ai 6 and ai 7: `{ bash: createBashTool() }` goes straight into `tools`. */
export interface BashTool {
  description: string;
  inputSchema: BashInputSchema;
  /** Lets anything through; ai 6 does not look at it. */
  contextSchema: BashContextSchema;
  /** Yields snapshots while the command runs and the final output last; never throws. Ends the command when the signal aborts or the iteration is given up. */
  execute: (input: BashToolInput, options: BashToolExecutionOptions) => AsyncGenerator<BashToolOutput, void, undefined>;
  /** The text of an output: `formatResult` of a result, `formatCheck` of a check, the message of an error, what there was of a command whose end was never seen. */
  toModelOutput: (options: { toolCallId?: string; input?: unknown; output: BashToolOutput }) => BashToolModelOutput;
}
