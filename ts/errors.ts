import type { ConfineMissing } from '../native.cjs';
import type { Finding } from './safety/analysis.ts';

/**
 * Why a target cannot be used. `'unreachable'`: no transport, route or container, as the transport says. `'auth'`,
 * `'host-key'`: as ssh says. `'shell'`: the login shell ended, or printed over 64 KiB, before our text ran.
 * `'timeout'`: it took longer than `connectTimeoutMs`. `'no-place'`: nowhere to start a program from. `'no-program'`:
 * the npm package is missing. `'hash'`: `hostProgram` is missing or another one. `'unsupported'`: there is no program
 * for this system. `'protocol'`: what answered is no program of ours. `'lost'`: the target was lost before the call
 * began, or before it answered.
 */
export type TargetReason =
  | 'unreachable'
  | 'auth'
  | 'host-key'
  | 'shell'
  | 'timeout'
  | 'no-place'
  | 'no-program'
  | 'hash'
  | 'unsupported'
  | 'protocol'
  | 'lost';

/**
 * Why a draft cannot be used. `'unsupported'`: this system has no user namespaces or no overlay on that file system, or
 * refuses to read or write there. `'unknown'`: there is no such draft, or no more. `'busy'`: a command runs in it, or
 * another process commits, forks or discards it. `'space'`: the disk is full. `'root'`: the directory cannot be
 * drafted.
 */
export type DraftReason = 'unsupported' | 'unknown' | 'busy' | 'space' | 'root';

/** The codes of a `BashError`. */
export type BashErrorCode =
  /** An argument or an option has the wrong type or an impossible value, or does not exist. */
  | 'ERR_BASH_INVALID_ARG'
  /** `cwd` does not exist. */
  | 'ERR_BASH_CWD_NOT_FOUND'
  /** `cwd` is not a directory. */
  | 'ERR_BASH_CWD_NOT_DIRECTORY'
  /** The shell does not exist. */
  | 'ERR_BASH_SHELL_NOT_FOUND'
  /** The system could not start a process; see `errno`. */
  | 'ERR_BASH_SPAWN'
  /** Required parts of `confine` cannot be held on this machine, or a write root does not exist; see `missing`. */
  | 'ERR_BASH_CONFINEMENT'
  /** A run cannot be undone, or the undo that `undo.require` asks for would not cover everything. */
  | 'ERR_BASH_UNDO'
  /** The safety engine refused the command; see `findings`. */
  | 'ERR_BASH_BLOCKED'
  /** The registry has no task of this id or pid. */
  | 'ERR_BASH_UNKNOWN_TASK'
  /** The store has no output of this number. */
  | 'ERR_BASH_UNKNOWN_OUTPUT'
  /** `maxTasks` tasks run already. */
  | 'ERR_BASH_TOO_MANY_TASKS'
  /** The session, the terminal, the registry or the target was closed. */
  | 'ERR_BASH_CLOSED'
  /** This system, or this place, cannot do it. */
  | 'ERR_BASH_UNSUPPORTED'
  /** The target cannot be used, and nothing was started; see `reason`. */
  | 'ERR_BASH_TARGET'
  /** The draft cannot be used; see `reason`. */
  | 'ERR_BASH_DRAFT'
  /** The signal of `BackgroundRegistry.start` was aborted before the start. */
  | 'ABORT_ERR';

/** Nothing was run. A command that ran is never an error, whatever its exit code. */
export class BashError extends Error {
  override readonly name = 'BashError';
  /** The kind of the error. */
  readonly code: BashErrorCode;
  /** The system's error (`'EAGAIN'`), with `ERR_BASH_SPAWN` if the system gave one. */
  declare readonly errno?: string;
  /** The reasons of a refusal, with `ERR_BASH_BLOCKED`. */
  declare readonly findings?: Finding[];
  /** The parts that cannot be held, with `ERR_BASH_CONFINEMENT`: why, and the remedy for this machine. */
  declare readonly missing?: ConfineMissing[];
  /** The name of the target, for an error of a call with one. */
  declare readonly target?: string;
  /** Why the target or the draft cannot be used, with `ERR_BASH_TARGET` and `ERR_BASH_DRAFT`. */
  declare readonly reason?: TargetReason | DraftReason;
  /** What the transport and the login shell have said, cleaned, at most 4 KiB; with `ERR_BASH_TARGET`. */
  declare readonly stderr?: string;

  constructor(code: BashErrorCode, message: string, errno?: string, findings?: Finding[], missing?: ConfineMissing[]) {
    super(message);
    this.code = code;
    // Printed errors show the fields that are set, and no others.
    if (errno !== undefined) this.errno = errno;
    if (findings !== undefined) this.findings = findings;
    if (missing !== undefined) this.missing = missing;
  }
}
