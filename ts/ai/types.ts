import type {
  Analysis,
  AnalyzeOptions,
  BackgroundCheck,
  BashOptions,
  BashResult,
  BashSession,
  bash,
  Decision,
  Finding,
  PtySession,
  SessionResult,
} from 'agent-bash';
import type { AnthropicBashInput, AnthropicBashTool } from '../anthropic/types.ts';
import type { LocalShellInput, OpenaiLocalShellTool, OpenaiShellTool, ShellInput } from '../openai/types.ts';
import type { ToolSandbox, ToolSandboxSession } from './in-sandbox/types.ts';
import type { TerminalTool, TerminalToolInput } from './terminal/types.ts';

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
  /** The folder to start in, resolved against the tool's folder, or the one that the session is in; `null` is that folder. */
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
  /** The code of `bash()`'s rejection; `ERR_BASH_INVALID_ARG` for bad input or a throw in `perCall`; `ERR_BASH_BLOCKED` for a throw in `onBeforeRun`, a refusal by an approval and an interception too; `ABORT_ERR` for a check or a kill that was interrupted. */
  code: string;
  /** Why the safety engine refused it, with `ERR_BASH_BLOCKED`. */
  findings?: Finding[];
  /** The tool to use in place of the command, when the interceptor stopped it. */
  suggestedTool?: SuggestedTool;
}

/** A call of another tool in place of a command. */
export interface SuggestedTool {
  /** Its name, as in `availableTools`. */
  name: string;
  /** What the command says about its input, by our names, not by the tool's own: `path`, `pattern`. A rule's named groups, as words without their quotes. */
  input: Record<string, string>;
}

/** Commands that another tool does better. */
export interface InterceptRule {
  /** A regular expression, as its source or as a `RegExp` (`g` and `y` have no meaning), looked for in the whole command. Its named groups become the `input` of the suggestion. */
  pattern: string | RegExp;
  /** The tool to use instead, or several names for it: the first that is at hand is suggested, and without one the rule does not apply. Case, `_` and `-` make no difference. */
  tool: string | readonly string[];
  /** What the model is told, a sentence. */
  message: string;
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
 * What a call yields: snapshots while the command runs, then one result (in a session with its `cwd`), or one error when nothing
 * ran; for `check_pid` and `kill_pid` one check. Plain data throughout. `'error' in`, `'task' in` and `status` tell them apart.
 */
export type BashToolOutput = BashResult | SessionResult | BackgroundCheck | BashToolError | BashToolSnapshot;

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
  /** Asked on each call; what it returns replaces these options one by one. A throw is `{ error }` and runs nothing. `description` and `perCall` have no effect here, and the description that is written here knows no session that only this gives. */
  perCall?: ((call: BashToolCall) => Partial<BashToolOptions> | undefined) | undefined;
  /**
   * The commands run in this session, one after another, each with what earlier ones have left; `perCall` can give each user one. What the
   * session was made with holds where the tool says nothing, and its folder in place of `cwd`; `env` of the tool is set for each command
   * anew. A `run` goes before it.
   */
  session?: BashSession | undefined;
  /**
   * The commands run there instead of on this machine: in a `SandboxSession` of ai 7, or by anything with `runCommand`. Each is judged here first, and limits,
   * cleaning, cutting, notes and formatting are the same; with `spawn` there are snapshots, too. `experimental_sandbox` of a call goes before it, `perCall` can give each user one,
   * and a `run` takes its place. `cwd` is a folder there and has no default; only `env` reaches the command, nothing of this machine's environment. Whole
   * output that was cut goes to a file there, below `spill.dir` or `/tmp`, at most 64 MiB, where the sandbox takes files, and else nowhere. Mode `'background'`, `check_pid`, `kill_pid`,
   * `args`, `stdin`, `merge`, `shell` and `limits` are `{ error }`, `ERR_BASH_UNSUPPORTED`; a `session` or `terminal` is left out, with a note. `pid` is 0 where
   * the sandbox tells none, `usage` is zero, and an exit code that it does not tell is 255, with a note.
   */
  sandbox?: ToolSandbox | undefined;
  /** The model gets a non-zero exit code as an error text. Default `false`: as an ordinary text that says so. */
  errorOnFailure?: boolean | undefined;
  /**
   * Each command runs in a pseudo-terminal that the host draws, resizes and types into. `cols` and `rows` are 80 and 24 unless given. `onStart` is
   * called once for each command, right after its start, and hears of all output if it listens then; a throw in it is a note. The result is that of
   * a command, with all output in `stdout`. Such a command ends at its limit, with a registry too. Commands run without one in mode `'background'`, with
   * a `session`, with `stdin` or with a `run` of your own, where `AGENT_BASH_NO_PTY=1` is in the host's environment, and, with a note, where none can be had.
   */
  terminal?:
    | {
        cols?: number | undefined;
        rows?: number | undefined;
        onStart?: ((pty: PtySession, input: { command: string }) => void) | undefined;
      }
    | undefined;
  /** The names of the other tools that the model has; the interceptor suggests no others. Default: none is known, and nothing is intercepted. */
  availableTools?: readonly string[] | undefined;
  /** Commands that another tool at hand does better are not run, and the model is told which one. `true` takes `INTERCEPT_RULES`. Default `false`. A pattern that is none is `ERR_BASH_INVALID_ARG`, thrown by `createBashTool`. */
  interceptor?: boolean | readonly InterceptRule[] | undefined;
  /** Takes the place of `bash`, for tests, and of a `session`. What the safety engine refuses does not come here. */
  run?: typeof bash | undefined;
  /** The least time between two live snapshots in ms, 10 to 60,000 (others are clamped). Default 250; 0 turns them off. */
  updateIntervalMs?: number | undefined;
  /** In place of the description written here; a function is asked once, with the tool's folder, or the one that its session is in then. */
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
  /** The sandbox of ai 7's call: the command runs there. */
  experimental_sandbox?: ToolSandboxSession | undefined;
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

/** What `createToolApproval` decides by. Types, levels and rules that cannot be are `ERR_BASH_INVALID_ARG`. */
export interface ApprovalOptions extends AnalyzeOptions {
  /** The tool whose calls these are, one of `createBashTool`, of `createTerminalTool` or of a provider: its folder, environment and safety options hold here too, `perCall` included, and what is given beside it goes first. */
  tool?: BashTool | TerminalTool | AnthropicBashTool | OpenaiShellTool | OpenaiLocalShellTool | undefined;
  /** Rules of what runs unasked; see `decide`. With them, whatever none of them matches is asked about. */
  allow?: string[] | undefined;
  /** Rules of what is asked about. */
  ask?: string[] | undefined;
  /** Rules of what is refused, unasked. */
  deny?: string[] | undefined;
  /** Has no effect here: an approval is where a person is asked. */
  onAsk?: 'allow' | 'deny' | undefined;
}

/** What an approval judges: the input of any tool that runs commands. Of several commands the strictest judgement holds for all. */
export type ApprovalInput = BashToolInput | TerminalToolInput | AnthropicBashInput | ShellInput | LocalShellInput;

/** The second argument of an approval, as far as it is read, of both majors. */
export interface BashApprovalCall {
  toolCallId?: string | undefined;
  messages?: unknown;
  /** The context of ai 6. */
  experimental_context?: unknown;
  /** The context of ai 7's `toolApproval`. */
  toolContext?: unknown;
  /** The context of ai 7's `needsApproval`. */
  context?: unknown;
}

/** What ai 7 is told about a call. The reason is what a person reads who is asked, or the model that is refused. */
export type BashApprovalStatus =
  | 'not-applicable'
  | { type: 'user-approval'; reason: string }
  | { type: 'denied'; reason: string };

/** What is to become of a call, with all that the decision came from. */
export interface BashApprovalJudgement {
  verdict: 'allow' | 'ask' | 'deny';
  /** For the person who is asked, or the model that is refused; empty when the call runs. */
  reason: string;
  /** What the command would do; `null` for `check_pid`, `kill_pid` and input that is none, which run nothing and are never asked about. */
  analysis: Analysis | null;
  /** What the rules come to; its `suggestRules` are what an «always allow» would add. `null` where `analysis` is. */
  decision: Decision | null;
}

/**
 * Who is asked before a command runs. For ai 7 it is the entry of the tool in `toolApproval: { bash: approval }`; for ai 6
 * its `needsApproval` is that of the tool.
 */
export interface ToolApproval {
  (input: ApprovalInput, call?: BashApprovalCall): Promise<BashApprovalStatus>;
  /** Whether a person is asked. What is refused is not asked about; the tool then gives the reason in place of a result. */
  needsApproval: (input: ApprovalInput, call?: BashApprovalCall) => Promise<boolean>;
  /** The same with everything a person may want to see; for ai 6, whose requests carry no reason. */
  judge: (input: ApprovalInput, call?: BashApprovalCall) => Promise<BashApprovalJudgement>;
}
