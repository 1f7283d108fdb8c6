import type {
  BackgroundCheck,
  BashErrorCode,
  BashOptions,
  BashResult,
  BashSession,
  Committed,
  ConfineMissing,
  Finding,
  OutputStore,
  PtySession,
  SessionResult,
  Undone,
  View,
} from 'agent-bash';

/**
 * The input that the model sends: exactly one of `command`, `check_pid`, `kill_pid`, `wait_pid`, `undo_run`, `recall`,
 * `draft_changes` and `draft_commit`, the other fields with a command. All may be `null` or missing: strict modes send
 * every field, other models leave them out.
 */
export interface BashToolInput {
  /** The command, byte for byte. A trailing `| head …` or `| tail …` becomes a limit if its meaning stays the same. */
  command?: string | null | undefined;
  /**
   * `'default'` 30 s (120 s if the command then moves to the background), `'slow'` 15 min, `'background'` returns at
   * once. `null` takes the tool's `mode`.
   */
  mode?: 'default' | 'slow' | 'background' | null | undefined;
  /**
   * The time limit in ms, clamped to 1,000 … 3,600,000 (in the background … 86,400,000) with a note. It takes
   * precedence over the tool's `timeoutMs` and any mode. With `wait_pid` it is the longest wait, 30 s by default.
   */
  timeout_ms?: number | null | undefined;
  /**
   * The directory to start in, resolved against the directory of the tool or of its session. Default and `null`: that
   * directory itself.
   */
  cwd?: string | null | undefined;
  /**
   * Only the first lines of each stream, a whole number of at least 1. The command is ended 2 s after this line of
   * stdout.
   */
  head?: number | null | undefined;
  /** Only the last lines of each stream, a whole number of at least 1. */
  tail?: number | null | undefined;
  /** The state and the new output of the background process with this pid. */
  check_pid?: number | null | undefined;
  /** Ends the background process with this pid and everything it started. */
  kill_pid?: number | null | undefined;
  /** Waits until the background process with this pid has ended, or until `port` or `pattern` is there. */
  wait_pid?: number | null | undefined;
  /** With `wait_pid`: a port of this machine that accepts connections. */
  port?: number | null | undefined;
  /** With `wait_pid`: a regular expression that the output not read so far matches. */
  pattern?: string | null | undefined;
  /** Undoes the run with this id. Only with `undo`. */
  undo_run?: string | null | undefined;
  /**
   * Lines of an output, unchanged: `'12:40-95'` these lines of output #12, `'12 /pattern/'` the lines that match. Only
   * with `reduce: 'salient'` or `outputs`.
   */
  recall?: string | null | undefined;
  /** What the draft has changed, in a few lines or as a patch. Only with `draft`. */
  draft_changes?: 'summary' | 'diff' | null | undefined;
  /** `true` asks for the commit of the draft. Only with `draft` and `commit: 'ask'`. */
  draft_commit?: boolean | null | undefined;
  /** Whether the command runs even if `reuse` has its result. Only with `reuse`. */
  fresh?: boolean | null | undefined;
  /** More than the confinement allows, for this command. The host is asked. Only with `onAccess`. */
  access?: BashToolAccess | null | undefined;
}

/** The access that a model asks for. */
export interface BashToolAccess {
  /** Files and directories to change, absolute or relative to the directory of the command. They exist. */
  write?: string[] | null | undefined;
  /** Hosts to reach, as in `confine.network.allow`. */
  network?: string[] | null | undefined;
  /** Why the access is needed, for the person who decides. */
  reason: string;
}

/** A model's request for more than the confinement allows, checked and resolved. */
export interface AccessRequest {
  /** The command that is to run with this access. */
  command: string;
  /** The directory that the command starts in, absolute. */
  cwd: string;
  toolCallId: string;
  /** Files and directories to change: absolute, without links, neither hidden nor protected. */
  write: string[];
  /** Hosts to reach, as entries of `confine.network.allow`. */
  network: string[];
  /** The model's reason: unchecked text. */
  reason: string;
}

/** A rule for commands that another tool does better. */
export interface InterceptRule {
  /**
   * A regular expression, as its source or as a `RegExp` (`g` and `y` have no meaning), that is searched in the whole
   * command. Its named groups become the `input` of the suggestion.
   *
   * @example const rule: InterceptRule = { pattern: /^cat (?<path>\S+)$/, tool: 'read', message: 'use read.' };
   */
  pattern: string | RegExp;
  /**
   * The tool to use instead, or several names for it. The first available tool is suggested. If none is available, the
   * rule does not apply. Case, `_` and `-` make no difference.
   *
   * @example const rule: InterceptRule = { pattern: '^tree$', tool: ['list_files', 'glob'], message: 'use the tool.' };
   */
  tool: string | readonly string[];
  /**
   * A sentence for the model.
   *
   * @example const rule: InterceptRule = { pattern: '^ls -R', tool: 'glob', message: 'files are found by name.' };
   */
  message: string;
}

/** The return of a hook: a replacement of its argument, or nothing, now or later. */
export type Hooked<T> = T | Nothing | Promise<T | Nothing>;
// biome-ignore lint/suspicious/noConfusingVoidType: a hook may be a function without a return.
type Nothing = void;

/** The argument of `perCall`. */
export interface BashToolCall {
  /** `experimental_context` of the call (ai 6) or `toolsContext.bash` (ai 7); `undefined` when there is none. */
  context: unknown;
  toolCallId: string;
}

/** A replacement for `bash`. */
export type BashRunner = (command: string, options?: BashOptions) => Promise<BashResult>;

/**
 * Options of `bash()` that hold for every call, and the tool's own options. `undefined` counts as left out. An unknown
 * option is `ERR_BASH_INVALID_ARG`, thrown by the function that makes the tool. From `perCall` it is `{ error }`.
 */
export interface BashToolOptions
  extends Omit<BashOptions, 'signal' | 'onOutput' | 'onSnapshot' | 'snapshotIntervalMs' | 'draft' | 'undo' | 'reduce'> {
  /**
   * Called on each call. The returned options replace the tool's options one by one. A throw is `{ error }` and runs
   * nothing. `description` and `perCall` have no effect here, and the built-in description does not mention a session
   * that only `perCall` gives.
   *
   * @default none
   * @example createBashTool({ perCall: ({ context }) => ({ cwd: folderOf(context) }) });
   */
  perCall?: ((call: BashToolCall) => Partial<BashToolOptions> | undefined) | undefined;
  /**
   * The session in which the commands run, one after another, each with the state that earlier ones have left.
   * `perCall` can give each user a session. The options of the session apply to what the tool leaves open, and its
   * directory replaces `cwd`. `env` of the tool is set for each command anew. A `run` replaces the session.
   *
   * @default none: each command has a fresh shell
   * @example createBashTool({ session: new BashSession() });
   */
  session?: BashSession | undefined;
  /**
   * The place where the commands run instead of this machine: a `SandboxSession` of ai 7, or any object with
   * `runCommand`. Each command is judged here first, and limits, cleaning, cutting, notes and formatting are the same.
   * With `spawn` there are snapshots, too. `experimental_sandbox` of a call replaces the sandbox, `perCall` can give
   * each user a sandbox, and a `run` replaces it.
   *
   * `cwd` is a directory of the sandbox and has no default. Only `env` reaches the command, nothing of this machine's
   * environment. Whole output that was cut goes to a file there, below `spill.dir` or `/tmp`, at most 64 MiB, if the
   * sandbox takes files, and nowhere otherwise. Mode `'background'`, `check_pid`, `kill_pid`, `wait_pid`, `args`,
   * `stdin`, `merge`, `shell`, `limits`, `confine`, `draft`, `receipt` and `undo` are `{ error }`,
   * `ERR_BASH_UNSUPPORTED`. A `session` or `terminal` is left out, with a note. `pid` is 0 if the sandbox reports none,
   * `usage` is zero, and an exit code that the sandbox does not report is 255, with a note.
   *
   * @default none
   * @example createBashTool({ sandbox: createLocalSandboxSession({ cwd: '/srv/project' }) });
   */
  sandbox?: ToolSandbox | undefined;
  /**
   * Whether the model gets a non-zero exit code as an error text, and not as an ordinary text with the exit code.
   *
   * @default false
   * @example createBashTool({ errorOnFailure: true });
   */
  errorOnFailure?: boolean | undefined;
  /**
   * Runs each command in a pseudo-terminal that the host draws, resizes and types into. `cols` and `rows` are 80 and 24
   * unless given. `onStart` is called once for each command, right after its start, and receives all output if it
   * listens then. A throw in it is a note. The result is the result of a command, with all output in `stdout`. Such a
   * command ends at its limit, with a registry too.
   *
   * Commands run without a terminal in mode `'background'`, with a `session`, with `stdin`, with a `run` of your own,
   * with `AGENT_BASH_NO_PTY=1` in the host's environment, and, with a note, if the system has none to give.
   *
   * @default none
   * @example createBashTool({ terminal: { cols: 120, onStart: (pty) => pty.on('data', draw) } });
   */
  terminal?:
    | {
        cols?: number | undefined;
        rows?: number | undefined;
        onStart?: ((pty: PtySession, input: { command: string }) => void) | undefined;
      }
    | undefined;
  /**
   * The names of the other tools that the model has. The interceptor suggests no others.
   *
   * @default []: nothing is intercepted
   * @example createBashTool({ interceptor: true, availableTools: ['read', 'grep'] });
   */
  availableTools?: readonly string[] | undefined;
  /**
   * Rules for commands that another available tool does better. Such a command does not run, and the model reads which
   * tool to use. `true` takes `INTERCEPT_RULES`. A pattern that is no regular expression is `ERR_BASH_INVALID_ARG`.
   *
   * @default false
   * @example createBashTool({ interceptor: [...INTERCEPT_RULES, rule], availableTools: ['read'] });
   */
  interceptor?: boolean | readonly InterceptRule[] | undefined;
  /**
   * Replaces `bash`, for tests, and a `session`. A command that the safety engine refuses does not reach it.
   *
   * @default bash
   * @example createBashTool({ run: async () => recordedResult });
   */
  run?: BashRunner | undefined;
  /**
   * Least time between two live snapshots, in ms, 10 to 60,000; others are clamped. 0 turns snapshots off.
   *
   * @default 250
   * @example createBashTool({ updateIntervalMs: 1_000 });
   */
  updateIntervalMs?: number | undefined;
  /**
   * Replaces the built-in description. A function is called once, with the tool's directory, or with the current
   * directory of its session.
   *
   * @default a description of the tool with these options
   * @example createBashTool({ description: ({ cwd }) => `Runs bash in ${cwd}.` });
   */
  description?: string | ((context: { cwd: string }) => string) | undefined;
  /**
   * Called before anything starts, with the model's command, and not for a call without one. It may return another
   * command. A throw is `{ error }` and runs nothing.
   *
   * @default none
   * @example createBashTool({ onBeforeRun: ({ command }) => ({ command: `set -o pipefail; ${command}` }) });
   */
  onBeforeRun?: ((input: { command: string }) => Hooked<{ command: string }>) | undefined;
  /**
   * Decides when the model asks for more than `confine` allows, with the `access` of its call. `true` grants the access
   * to this command. `'session'` grants it to this command and all later commands of this tool, or of the session if
   * there is one. `false` refuses it. Refused access, and access to a path that does not exist or is hidden or
   * protected, is `{ error }` with `ERR_BASH_CONFINEMENT`, and nothing runs. A throw refuses it, too. Called only for
   * access that is not allowed already.
   *
   * @default none: the input has no `access`, and the model reads that the host grants nothing
   * @example createBashTool({ confine: 'workspace', onAccess: ({ write, network }) => ask(write, network) });
   */
  onAccess?: ((request: AccessRequest) => boolean | 'session' | Promise<boolean | 'session'>) | undefined;
  /**
   * The draft in which the commands run, as in `bash()`, which the tool does not close. `true`: a draft of the tool's
   * directory, or of the first directory of its session. It is opened with the first command, and after a commit with
   * the next one. Its id is `result.draft`, and it is kept for 7 days after its last command. The input then has
   * `draft_changes`. `access` is not offered. `confine` beside `true` is that of the draft, as `openDraft` takes it.
   * In a sandbox the option is `{ error }`, `ERR_BASH_UNSUPPORTED`.
   *
   * @default false
   * @example createBashTool({ draft: true, commit: 'ask' });
   */
  draft?: BashOptions['draft'] | boolean | undefined;
  /**
   * `'ask'`: the model may ask for the commit of the draft, with `draft_commit`. It is committed if a person approves
   * the call, for which `createToolApproval({ draft: true })` asks, and refused otherwise. Paths that were changed
   * outside as well stop it.
   *
   * @default 'never': the host commits
   * @example createBashTool({ draft: true, commit: 'ask' });
   */
  commit?: 'ask' | 'never' | undefined;
  /**
   * As in `bash()`; `true` is `'risky'`. Unless it is off, the input has `undo_run`, by which the model takes back what
   * a run changed, and the text of a result says how. The model can undo runs of this tool, and runs that started in
   * its directory or below. Not in a sandbox, where the option is `{ error }`, `ERR_BASH_UNSUPPORTED`.
   *
   * @default 'off'
   * @example createBashTool({ undo: true });
   */
  undo?: BashOptions['undo'] | boolean | undefined;
  /**
   * As in `bash()`, but with another default. A text with a view is read in place of the streams. With `'lossless'` and
   * `'salient'`, the text of a successful command that wrote only standard output is just this output, and an exit code
   * of 0 is left out. Nothing is left out of a command that is run again at once.
   *
   * With the `messages` of the SDK, lines that an earlier result of this tool still shows are not repeated: `[56 lines
   * as in #9 L40-95]`. A process in the background is reduced once for each check. Commands in a terminal have no view.
   *
   * @default 'lossless'
   * @example createBashTool({ reduce: 'salient' });
   */
  reduce?: BashOptions['reduce'] | undefined;
  /**
   * Keeps the outputs whose views leave out lines, and what taps keep. With it, with `reduce: 'salient'` or with taps
   * (option `taps`, which is on) the input has `recall`, by which the model gets unchanged lines.
   *
   * @default a store of this tool, in the temporary directory, which is removed with this process
   * @example createBashTool({ reduce: 'salient', outputs: new OutputStore({ dir: '/srv/agent/outputs' }) });
   */
  outputs?: OutputStore | undefined;
  /**
   * Called after a run, or a refusal to run, with the command as `onBeforeRun` left it. It may return another output.
   * If that has other text with the same view, the view is made anew. A throw is a note in the result.
   *
   * @default none
   * @example createBashTool({ onAfterRun: ({ command, result }) => log(command, result) });
   */
  onAfterRun?: ((input: { command: string; result: BashToolOutput }) => Hooked<BashToolOutput>) | undefined;
}

/** The second argument of `execute`, as far as the tool reads it, of both majors. */
export interface BashToolExecutionOptions {
  toolCallId: string;
  /** The conversation: approvals of a person, and the earlier results that the model still reads. */
  messages?: unknown;
  /** Ends the command; the call then yields its output up to that point, with status `'aborted'`. */
  abortSignal?: AbortSignal | undefined;
  /** The context of ai 6. */
  experimental_context?: unknown;
  /** The context of ai 7. */
  context?: BashToolContext | undefined;
  /** The sandbox of ai 7's call: the command runs there. */
  experimental_sandbox?: ToolSandboxSession | undefined;
}

/** The second argument of an approval, as far as it is read, of both majors. */
export interface BashApprovalCall {
  toolCallId?: string | undefined;
  messages?: unknown;
  /**
   * Withdraws a question. Neither major passes it to an approval: a tool of this package learns it before, from its
   * `onInputAvailable`.
   */
  abortSignal?: AbortSignal | undefined;
  /** The context of ai 6. */
  experimental_context?: unknown;
  /** The context of ai 7's `toolApproval`. */
  toolContext?: unknown;
  /** The context of ai 7's `needsApproval`. */
  context?: unknown;
}

/** The text of an output for the model. */
export type BashToolModelOutput = { type: 'text'; value: string } | { type: 'error-text'; value: string };

/** A tool for ai 6 and ai 7: `{ bash: createBashTool() }` goes straight into `tools`. */
export interface BashTool {
  description: string;
  inputSchema: BashInputSchema;
  /** Lets anything through; ai 6 does not look at it. */
  contextSchema: BashContextSchema;
  /** Learns the signal of a call that an approval is asked about next, so that an abort withdraws the question. */
  onInputAvailable: (call: { toolCallId: string; abortSignal?: AbortSignal | undefined }) => void;
  /**
   * Yields snapshots while the command runs and the final output last; never throws. Ends the command when the signal
   * aborts or the iteration is given up.
   */
  execute: (input: BashToolInput, options: BashToolExecutionOptions) => AsyncGenerator<BashToolOutput, void, undefined>;
  /**
   * Returns the text of an output: `formatResult` of a result, `formatCheck` of a check, the effect of an undo, the
   * lines of a recall, the message of an error, and the output so far of a command whose end was never seen.
   */
  toModelOutput: (options: { toolCallId?: string; input?: unknown; output: BashToolOutput }) => BashToolModelOutput;
  /**
   * Closes the draft that the tool has opened, and ends what runs in it. Its changes stay, and the next command opens
   * another draft. Without such a draft it does nothing. May be called again.
   */
  close: () => Promise<void>;
  /** Same as `close()`. */
  [Symbol.asyncDispose]: () => Promise<void>;
}

/**
 * The answer if nothing ran. It is returned and not thrown, so that the model reads `error` as the result of its call.
 */
export interface BashToolError {
  /** A sentence that names the problem. */
  error: string;
  /**
   * The code of `bash()`'s rejection, and these:
   *
   * - `ERR_BASH_INVALID_ARG`: bad input, or a throw in `perCall`.
   * - `ERR_BASH_BLOCKED`: a throw in `onBeforeRun`, a refusal by an approval, an interception.
   * - `ABORT_ERR`: a check or a kill that was interrupted.
   * - `ERR_BASH_UNDO`: a run that cannot be undone, or that does not belong to this tool.
   * - `ERR_BASH_UNKNOWN_OUTPUT`: a recall of an output that is unknown or forgotten.
   */
  code: BashErrorCode | (string & {});
  /** Why the safety engine refused the command, with `ERR_BASH_BLOCKED`. */
  findings?: Finding[];
  /** The parts of a confinement that cannot be held, with `ERR_BASH_CONFINEMENT`: why, and the remedy. */
  missing?: ConfineMissing[];
  /** The tool to use in place of the command, when the interceptor stopped it. */
  suggestedTool?: SuggestedTool;
}

/** A call of another tool in place of a command. */
export interface SuggestedTool {
  /** The name of the tool, as in `availableTools`. */
  name: string;
  /**
   * The parts of the command for its input, by our names and not by the tool's own: `path`, `pattern`. They are the
   * rule's named groups, as words without their quotes.
   */
  input: Record<string, string>;
}

/** A command that still runs, in preliminary results only: a new object each time, the last 8 KiB of each stream. */
export interface BashToolSnapshot {
  status: 'running';
  stdout: string;
  stderr: string;
  exitCode: null;
  /** Process id, also the process group id. */
  pid: number;
  /** Time since the start of the process, in ms. */
  durationMs: number;
}

/** The effect of `undo_run`. */
export interface BashToolUndone extends Undone {
  /** Distinguishes the output from a result. */
  status: 'undone';
  /** 1 if a path stays unchanged because it changed after the run, otherwise 0. */
  exitCode: 0 | 1;
}

/** The lines that a `recall` asks for. */
export interface BashToolRecalled {
  /** Distinguishes the output from a result. */
  status: 'recalled';
  exitCode: 0;
  /** The lines, byte for byte, at most 50 KiB. Empty if there are none. */
  text: string;
}

/** What a draft has changed. */
export interface BashToolDrafted {
  /** Distinguishes the output from a result. */
  status: 'drafted';
  exitCode: 0;
  /** The id of the draft; `null` if no command has begun one. */
  draft: string | null;
  /** The summary or the patch. */
  text: string;
}

/** The effect of `draft_commit`. */
export interface BashToolCommitted extends Committed {
  /** Distinguishes the output from a result. */
  status: 'committed';
  /** 1 if nothing was committed because of conflicts, otherwise 0. */
  exitCode: 0 | 1;
  /** The id of the draft; `null` if no command has begun one. */
  draft: string | null;
}

/** The wait of a `wait_pid`. */
export interface BashToolWait {
  /**
   * What ended it: the port or the pattern was found, the process has ended before, the time was up, or the call was
   * aborted.
   */
  end: 'found' | 'ended' | 'timed-out' | 'aborted';
  /** The port that was waited for, or `null`. */
  port: number | null;
  /** The pattern that was waited for, or `null`. */
  pattern: string | null;
  /** The longest time that it could take, in ms. */
  timeoutMs: number;
}

/** The state and the new output of a background process. */
export interface BashToolCheck extends BackgroundCheck {
  /** The wait before, of a `wait_pid`. */
  waited?: BashToolWait;
  /** The text that the model reads in place of the output; `null` if nothing was gained, missing with `'off'`. */
  view?: View | null;
}

/** The result of a command. */
export type BashToolResult = (BashResult | SessionResult) & {
  /**
   * The level of the call, if `perCall` turned reductions on or off. Without it, the tool's level holds. So the text of
   * a result is the same after a JSON round trip.
   */
  reduce?: 'off' | 'lossless' | 'salient';
};

/**
 * The outputs of a call: snapshots while the command runs, then one result (in a session with its `cwd`), or one error
 * if nothing ran; for `check_pid`, `kill_pid` and `wait_pid` one check, for `undo_run` and `draft_commit` their effect,
 * for `recall` the lines, for `draft_changes` the changes. Plain data throughout. `'error' in`, `'task' in` and
 * `status` tell them apart.
 */
export type BashToolOutput =
  | BashToolResult
  | BashToolCheck
  | BashToolUndone
  | BashToolRecalled
  | BashToolDrafted
  | BashToolCommitted
  | BashToolError
  | BashToolSnapshot;

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

/**
 * The schema of the context that `perCall` receives, for ai 7: any object, or none. Without it, `toolsContext` would
 * have no place for this tool.
 */
export interface BashContextSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'agent-bash';
    /**
     * ai 7 infers from the last of these that a context may be left out. Its `tool()` takes objects only, and finds the
     * first.
     */
    readonly validate: {
      (value: unknown): { readonly value: BashToolContext; readonly issues?: undefined };
      (value: unknown): { readonly value: BashToolContext | undefined; readonly issues?: undefined };
    };
  };
}

/** The app's own context of a call. */
export type BashToolContext = Record<string, unknown>;

/** A command for a sandbox session. */
export interface SandboxCommand {
  /** Run by the shell of the sandbox. */
  command: string;
  /** The directory to start in, if not the session's own. */
  workingDirectory?: string;
  env?: Record<string, string>;
  abortSignal?: AbortSignal;
}

/** A command that a session has spawned, as far as the tool looks at it. */
export interface SandboxCommandProcess {
  readonly pid?: number | undefined;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  wait(): PromiseLike<{ exitCode: number; confinement?: unknown }>;
  kill(): PromiseLike<void>;
}

/**
 * The part of a `SandboxSession` of ai 7 that the tool uses: `run`, or better `spawn`, whose output arrives while the
 * command runs.
 */
export interface ToolSandboxSession {
  /** Text for the description of the tool. */
  readonly description?: string;
  readonly run: (command: SandboxCommand) => PromiseLike<{
    exitCode: number;
    stdout: string;
    stderr: string;
    confinement?: unknown;
  }>;
  readonly spawn?: (command: SandboxCommand) => PromiseLike<SandboxCommandProcess>;
  /** Writes whole output that was cut. */
  readonly writeTextFile?: (file: { path: string; content: string; abortSignal?: AbortSignal }) => PromiseLike<void>;
}

/** A program that a command runner has run. */
export interface RunnerFinished {
  exitCode: number;
  /** How a local sandbox confined the program. */
  confinement?: unknown;
  stdout(): PromiseLike<string>;
  stderr(): PromiseLike<string>;
}

/** The part of a remote runner that the tool uses: `runCommand`, with one object. */
export interface ToolCommandRunner {
  runCommand(params: {
    cmd: string;
    args?: string[];
    cwd?: string;
    env?: Record<string, string>;
    signal?: AbortSignal;
  }): PromiseLike<RunnerFinished>;
  /** Writes whole output that was cut. */
  // biome-ignore lint/suspicious/noExplicitAny: runners take a Buffer, a string or either
  writeFiles?(files: { path: string; content: any }[]): PromiseLike<unknown>;
}

/** A place where the commands of a tool can run instead of this machine. */
export type ToolSandbox = ToolSandboxSession | ToolCommandRunner;

/** A Standard Schema with its JSON Schema, which both majors take as it is. The tool is called with its output. */
export interface ProviderSchema<T> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'agent-bash';
    readonly types?: { readonly input: T; readonly output: T } | undefined;
    readonly validate: (
      value: unknown,
    ) => { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly BashInputIssue[] };
    readonly jsonSchema: {
      /** A new object each time. Throws for targets other than JSON Schema drafts. */
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

/**
 * A tool that a provider has defined, complete, for ai 6 and ai 7: it goes straight into `tools`, under the key that
 * its function names. The provider's package, which the model comes from, tells the API of it by its `id`.
 */
// biome-ignore lint/suspicious/noExplicitAny: without its types it stands for any of them
export interface ProviderTool<Input = any, Output = any> {
  type: 'provider';
  /** `false` for ai 7: the tool runs here, and not at the provider. */
  isProviderExecuted: false;
  /** The name of the provider and the name of the tool: `'anthropic.bash_20250124'`. */
  id: `${string}.${string}`;
  /** The arguments of the tool for the provider's API; none by default. */
  args: Record<string, unknown>;
  inputSchema: ProviderSchema<Input>;
  /** Lets anything through; ai 6 does not look at it. */
  contextSchema: BashContextSchema;
  /** Learns the signal of a call that an approval is asked about next, so that an abort withdraws the question. */
  onInputAvailable: (call: { toolCallId: string; abortSignal?: AbortSignal | undefined }) => void;
  /**
   * Yields the output so far while the commands run and the final output last; never throws. Ends the commands if the
   * signal aborts or the iteration is given up.
   */
  execute: (input: Input, options: BashToolExecutionOptions) => AsyncGenerator<Output, void, undefined>;
  /** As `close()` of the bash tool. */
  close: () => Promise<void>;
  /** Same as `close()`. */
  [Symbol.asyncDispose]: () => Promise<void>;
}
