import type {
  BackgroundCheck,
  BashErrorCode,
  BashResult,
  ConfineMissing,
  Finding,
  SessionResult,
  Undone,
  View,
} from 'agent-bash';

/** Nothing ran. Never a throw: the model reads `error` as the result of its call. */
export interface BashToolError {
  /** A sentence that names the problem. */
  error: string;
  /**
   * The code of `bash()`'s rejection, and these:
   *
   * - `ERR_BASH_INVALID_ARG`: bad input, or a throw in `perCall`.
   * - `ERR_BASH_BLOCKED`: a throw in `onBeforeRun`, a refusal by an approval, an interception.
   * - `ABORT_ERR`: a check or a kill that was interrupted.
   * - `ERR_BASH_UNDO`: a run that cannot be undone, or that is not one of this tool.
   * - `ERR_BASH_UNKNOWN_OUTPUT`: a recall of an output that is unknown or forgotten.
   */
  code: BashErrorCode | (string & {});
  /** Why the safety engine refused it, with `ERR_BASH_BLOCKED`. */
  findings?: Finding[];
  /** The parts of a confinement that cannot be held, with `ERR_BASH_CONFINEMENT`: why, and the remedy. */
  missing?: ConfineMissing[];
  /** The tool to use in place of the command, when the interceptor stopped it. */
  suggestedTool?: SuggestedTool;
}

/** A call of another tool in place of a command. */
export interface SuggestedTool {
  /** Its name, as in `availableTools`. */
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
  /** Since the start of the process, in ms. */
  durationMs: number;
}

/** The effect of `undo_run`. */
export interface BashToolUndone extends Undone {
  /** Tells it apart from a result. */
  status: 'undone';
  /** 1 if something stays because it changed after the run, else 0. */
  exitCode: 0 | 1;
}

/** The lines that a `recall` asks for. */
export interface BashToolRecalled {
  /** Tells it apart from a result. */
  status: 'recalled';
  exitCode: 0;
  /** The lines, byte for byte, at most 50 KiB. Empty if there are none. */
  text: string;
}

/** The state and the new output of a background process. */
export interface BashToolCheck extends BackgroundCheck {
  /** The text that the model reads in place of the output; `null` if nothing was gained, missing with `'off'`. */
  view?: View | null;
}

/** The result of a command. */
export type BashToolResult = (BashResult | SessionResult) & {
  /**
   * The level of the call, if `perCall` turned reductions on or off. Without it, that of the tool holds. So the text of
   * a result is the same after a JSON round trip.
   */
  reduce?: 'off' | 'lossless' | 'salient';
};

/**
 * The outputs of a call: snapshots while the command runs, then one result (in a session with its `cwd`), or one error
 * if nothing ran; for `check_pid` and `kill_pid` one check, for `undo_run` its effect, for `recall` the lines. Plain
 * data throughout. `'error' in`, `'task' in` and `status` tell them apart.
 */
export type BashToolOutput =
  | BashToolResult
  | BashToolCheck
  | BashToolUndone
  | BashToolRecalled
  | BashToolError
  | BashToolSnapshot;
