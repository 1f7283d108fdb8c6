import type { BashOptions } from 'agent-bash';

/**
 * How a local sandbox is set up. Every option of `bash` holds for each command, with two exceptions: output is always
 * whole, so `truncate` and `spill` have no effect, and `sanitize`, `timeoutMs` and `mode` are off unless they are given.
 */
export type LocalSessionOptions = {
  /** The sandbox's folder, against which every relative path is resolved. Default: `process.cwd()` at the time of the call. */
  cwd?: string;
  /** Variables for every command; `null` removes a name. */
  env?: Record<string, string | null>;
  /** What commands see as `HOME`, resolved like `cwd`. Default: the user's own. */
  home?: string;
} & Partial<BashOptions>;

/** One program to run. */
export interface RunParams {
  /** The program: a name looked up on the command's PATH, or a path (with a slash), relative to the command's folder. */
  cmd: string;
  /** Its arguments, byte for byte; no shell sees them. Default: none. */
  args?: string[] | undefined;
  /** The folder to start in, relative to the sandbox's. Default: the sandbox's. */
  cwd?: string | undefined;
  /** Variables laid over those of the sandbox. */
  env?: Record<string, string> | undefined;
  /** Ends the program and all it started. The promise then resolves with exit code 130 and the output so far. */
  signal?: AbortSignal | undefined;
}

/** How a program ended and what it wrote. */
export interface CommandFinished {
  /** 0…255; 128 + n after signal n, 127 for a program that is missing, 126 for one that cannot be run, 130 after an abort. */
  exitCode: number;
  /** The whole standard output. May be called any number of times. */
  stdout(): Promise<string>;
  /** The whole standard error. */
  stderr(): Promise<string>;
  /** One stream, or both in the order in which they arrived. Default `'both'`. */
  output(which?: 'stdout' | 'stderr' | 'both'): Promise<string>;
}

/** A program that runs on by itself until it ends, is killed, or the sandbox is stopped. */
export interface DetachedCommand {
  /** Resolves when the program has ended; may be called any number of times. */
  wait(): Promise<CommandFinished>;
  /**
   * Without a signal: ends the program and all it started (SIGTERM, grace, SIGKILL) as an abort would, and resolves when
   * that is done. With one (`'SIGINT'` or `'INT'`): sends just that to its process group. One that has ended is left alone.
   */
  kill(signal?: string): Promise<void>;
}

/** What agents' bash tools need of a remote sandbox. */
export interface CommandRunner {
  /** Runs a program to its end. It rejects only when nothing could be run, with a `BashError`. */
  runCommand(cmd: string, args?: string[]): Promise<CommandFinished>;
  /** The same with a folder, variables and a signal of its own. */
  runCommand(params: RunParams): Promise<CommandFinished>;
}

/** A remote sandbox's shape, on this machine. It confines nothing: commands and paths reach whatever the user can reach. */
export interface LocalSandbox extends CommandRunner {
  /** Starts a program and resolves once it has been started. It keeps Node alive while it runs, and ends with the host. */
  runCommand(params: RunParams & { detached: true }): Promise<DetachedCommand>;
  runCommand(cmd: string, args?: string[]): Promise<CommandFinished>;
  runCommand(params: RunParams): Promise<CommandFinished>;
  /** A file's bytes, or `null` when there is none. A folder rejects (`EISDIR`). */
  readFile(file: { path: string; cwd?: string }): Promise<ReadableStream<Uint8Array> | null>;
  /** Writes files one after another, over what is there, and makes the folders they lie in. */
  writeFiles(files: { path: string; content: string | Uint8Array }[]): Promise<void>;
  /** Makes a folder and those above it; one that exists is left as it is. */
  mkDir(path: string): Promise<void>;
  /**
   * Ends all that was started so far, detached programs and what commands left running included, and resolves when it is
   * gone. The folder stays, the sandbox can go on being used, and it may be stopped again. It rejects with `EPERM` and the
   * pids when something is left that may not be signalled.
   */
  stop(): Promise<void>;
}
