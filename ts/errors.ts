import type { Finding } from './analysis';

/** The codes of a `BashError`. */
export type BashErrorCode =
  | 'ERR_BASH_INVALID_ARG'
  | 'ERR_BASH_CWD_NOT_FOUND'
  | 'ERR_BASH_CWD_NOT_DIRECTORY'
  | 'ERR_BASH_SHELL_NOT_FOUND'
  | 'ERR_BASH_SPAWN'
  | 'ERR_BASH_BLOCKED'
  | 'ERR_BASH_UNKNOWN_TASK'
  | 'ERR_BASH_TOO_MANY_TASKS'
  | 'ERR_BASH_CLOSED'
  | 'ERR_BASH_UNSUPPORTED'
  /** Of `BackgroundRegistry.start`, which has no other way to say that its signal was aborted. */
  | 'ABORT_ERR';

/** Nothing could be run, and nothing was started. A command that ran is never an error, whatever its exit code. */
export class BashError extends Error {
  override readonly name = 'BashError';
  /** What was wrong, one of `BashErrorCode`. */
  readonly code: string;
  /** The system's error (`'EAGAIN'`), with `ERR_BASH_SPAWN` where there is one. */
  readonly errno?: string;
  /** Why the command was refused, with `ERR_BASH_BLOCKED`. */
  readonly findings?: Finding[];

  constructor(code: BashErrorCode | (string & {}), message: string, errno?: string, findings?: Finding[]) {
    super(message);
    this.code = code;
    if (errno !== undefined) this.errno = errno;
    if (findings !== undefined) this.findings = findings;
  }
}
