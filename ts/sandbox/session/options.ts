import { checkSetting } from '../command.ts';
import { invalid } from '../errors.ts';

/** Where and with what a command runs. */
export interface CommandSetting {
  /** The folder to start in, relative to the session's, which is the default. */
  workingDirectory?: string | undefined;
  /** Variables laid over those of the session. */
  env?: Record<string, string> | undefined;
  /** Ends the command and all it started. */
  abortSignal?: AbortSignal | undefined;
}

/** One path. */
export interface PathOptions {
  /** Relative to the session's folder, or absolute. */
  path: string;
  abortSignal?: AbortSignal | undefined;
}

/** A file to be written. */
export interface WriteOptions<Content> extends PathOptions {
  content: Content;
}

/** Checks a command of the session, and that it is still wanted. */
export function checkedCommand<T extends CommandSetting & { command: string }>(options: T): T {
  if (typeof options !== 'object' || options === null) throw invalid('it takes an object with a command');
  if (typeof options.command !== 'string') throw invalid('command must be a string');
  const { workingDirectory, env, abortSignal } = options;
  checkSetting({ cwd: workingDirectory, env, signal: abortSignal }, 'workingDirectory', 'abortSignal');
  abortSignal?.throwIfAborted();
  return options;
}

/** Checks what is asked of a file, but for its path, and that it is still wanted. */
export function checkedFile<T extends PathOptions>(options: T): T {
  if (typeof options !== 'object' || options === null) throw invalid('it takes an object with a path');
  checkSetting({ signal: options.abortSignal }, '', 'abortSignal');
  options.abortSignal?.throwIfAborted();
  return options;
}
