import type { NativeText } from '../native.cjs';

/**
 * What the other entries of this package have of the core and users have not: on `bash`, by this name. The entries are
 * bundled apart, so that the name is one of the whole process.
 */
export const INNER: unique symbol = Symbol.for('agent-bash.inner') as never;

/** The core's parts that run no command. */
export interface Inner {
  /** The way from bytes to text, for output that something else has run. */
  readonly NativeText: typeof NativeText;
  /** Throws `ERR_BASH_INVALID_ARG` for a command and options that `bash` would refuse, whoever runs it. */
  check(command: unknown, options: unknown): void;
  /** Has a folder taken away when this process has ended, however that comes about. */
  removeAtEnd(folder: string): void;
  /** It is gone already. */
  removeNoMore(folder: string): void;
}
