import { checkSetting } from '../command.ts';
import { invalid } from '../errors.ts';

/** The directory and the variables of a command. */
export interface CommandSetting {
  /**
   * The directory to start in, relative to the session's.
   *
   * @default the session's
   * @example await session.run({ command: 'npm test', workingDirectory: 'packages/core' });
   */
  workingDirectory?: string | undefined;
  /**
   * Variables that are added to the session's variables or replace them.
   *
   * @default {}
   * @example await session.run({ command: 'npm test', env: { CI: '1' } });
   */
  env?: Record<string, string> | undefined;
  /**
   * Ends the command and all that it started.
   *
   * @default none
   * @example await session.run({ command: 'npm test', abortSignal: AbortSignal.timeout(60_000) });
   */
  abortSignal?: AbortSignal | undefined;
}

/** One path. */
export interface PathOptions {
  /**
   * A path, absolute or relative to the session's directory.
   *
   * @example await session.readTextFile({ path: 'package.json' });
   */
  path: string;
  /**
   * Rejects with its reason when it is aborted.
   *
   * @default none
   * @example await session.readTextFile({ path: 'package.json', abortSignal: controller.signal });
   */
  abortSignal?: AbortSignal | undefined;
}

/** A file to be written. */
export interface WriteOptions<Content> extends PathOptions {
  /**
   * All that the file holds afterwards.
   *
   * @example await session.writeTextFile({ path: 'notes.txt', content: 'done' });
   */
  content: Content;
}

/** Checks a command of the session and that its signal is not aborted. */
export function checkedCommand<T extends CommandSetting & { command: string }>(options: T): T {
  if (typeof options !== 'object' || options === null) throw invalid('it takes an object with a command');
  if (typeof options.command !== 'string') throw invalid('command must be a string');
  const { workingDirectory, env, abortSignal } = options;
  checkSetting({ cwd: workingDirectory, env, signal: abortSignal }, 'workingDirectory', 'abortSignal');
  abortSignal?.throwIfAborted();
  return options;
}

/** Checks a file operation, except for its path, and that its signal is not aborted. */
export function checkedFile<T extends PathOptions>(options: T): T {
  if (typeof options !== 'object' || options === null) throw invalid('it takes an object with a path');
  checkSetting({ signal: options.abortSignal }, '', 'abortSignal');
  options.abortSignal?.throwIfAborted();
  return options;
}
