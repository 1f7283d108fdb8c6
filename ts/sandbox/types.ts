import type { BashOptions, Confinement, Receipt, Target, UndoCoverage } from 'agent-bash';
import type { SignalName } from '../core/signals.ts';

/**
 * How a local sandbox is set up. Every option of `bash` applies to each command, with two exceptions: output is always
 * whole, so that `truncate` and `spill` have no effect, and `sanitize`, `timeoutMs` and `mode` are off unless they are
 * given. An option that does not exist is `ERR_BASH_INVALID_ARG`.
 */
export type LocalSessionOptions = {
  /**
   * The sandbox's directory, against which every relative path is resolved.
   *
   * @default process.cwd() at the time of the call
   * @example createLocalSandbox({ cwd: '/srv/project' });
   */
  cwd?: string | undefined;
  /**
   * Variables for every command; `null` removes a name.
   *
   * @default {}
   * @example createLocalSandbox({ env: { NODE_ENV: 'test' } });
   */
  env?: Record<string, string | null | undefined> | undefined;
  /**
   * The `HOME` of commands, resolved like `cwd`.
   *
   * @default the user's own home; for a session a private directory
   * @example createLocalSandbox({ home: '/srv/home' });
   */
  home?: string | undefined;
} & Omit<BashOptions, 'cwd' | 'env' | 'target' | 'affinity'>;

/** The options of a sandbox of this machine, and the machine. */
export type SandboxOptions = LocalSessionOptions & {
  /**
   * The machine that has the files and runs the commands: a target of `connect`. `cwd` and `home` are then paths there,
   * and relative ones begin at the directory of the target.
   *
   * @default this machine
   * @example createSandbox({ target: await connect({ ssh: 'build1' }), cwd: 'project' });
   */
  target?: Target | undefined;
};

/** One program to run. */
export interface RunParams {
  /**
   * The program: a name on the command's PATH, or a path (with a slash), relative to the command's directory.
   *
   * @example await sandbox.runCommand({ cmd: 'node' });
   */
  cmd: string;
  /**
   * Its arguments, byte for byte. No shell sees them.
   *
   * @default []
   * @example await sandbox.runCommand({ cmd: 'node', args: ['--version'] });
   */
  args?: string[] | undefined;
  /**
   * The directory to start in, relative to the sandbox's.
   *
   * @default the sandbox's
   * @example await sandbox.runCommand({ cmd: 'npm', args: ['test'], cwd: 'packages/core' });
   */
  cwd?: string | undefined;
  /**
   * Variables that are added to the sandbox's variables or replace them.
   *
   * @default {}
   * @example await sandbox.runCommand({ cmd: 'npm', args: ['test'], env: { CI: '1' } });
   */
  env?: Record<string, string> | undefined;
  /**
   * Ends the program and all that it started. The promise then resolves with exit code 130 and the output so far.
   *
   * @default none
   * @example await sandbox.runCommand({ cmd: 'npm', args: ['test'], signal: AbortSignal.timeout(60_000) });
   */
  signal?: AbortSignal | undefined;
}

/** The field of a result whose target was lost. */
export interface Losable {
  /**
   * `true`: the target was lost before the command had ended, and may have done all, some or nothing of its work;
   * `exitCode` is 255. Left out otherwise.
   */
  lost?: true;
}

/** The field that results have in a sandbox with `confine`. */
export interface Confined {
  /** The parts that the confinement held, and the denials. Left out without `confine`, and if nothing was started. */
  confinement?: Confinement;
}

/** The fields that results have in a sandbox with `receipt` or `undo`. They are left out without these options. */
export interface Recorded {
  /** Names the run, for `undo`. Left out if nothing was recorded. */
  runId?: string;
  /** The changes of the command. Left out without a receipt. */
  receipt?: Receipt;
  /** How much `undo(runId)` takes back. Left out if the run cannot be undone. */
  undo?: UndoCoverage;
}

/** The end and the output of a program. */
export interface CommandFinished extends Losable, Confined, Recorded {
  /**
   * 0…255; 128 + n after signal n, 127 for a missing program, 126 for a program that cannot be run, 130 after an abort.
   */
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
   * Without a signal: ends the program and everything it started (SIGTERM, grace, SIGKILL) as an abort would, and
   * resolves when this is done. With a signal (`'SIGINT'` or `'INT'`): only sends the signal to the program's process
   * group. Does nothing if the program has ended.
   */
  kill(signal?: SignalName): Promise<void>;
}

/** The part of a remote sandbox that agents' bash tools use. */
export interface CommandRunner {
  /** Runs a program to its end. It rejects only when nothing could be run, with a `BashError`. */
  runCommand(cmd: string, args?: string[]): Promise<CommandFinished>;
  /** Runs a program to its end, with its own directory, variables and signal. */
  runCommand(params: RunParams): Promise<CommandFinished>;
}

/**
 * A sandbox on this machine, or on a target, with the shape of a remote sandbox. Without `confine`, commands and paths
 * reach whatever the user can reach. With `confine`, commands and the methods for files reach the same files.
 */
export interface Sandbox extends CommandRunner {
  /**
   * Starts a program and resolves once it has been started. It keeps Node alive while it runs, and ends with the host.
   */
  runCommand(params: RunParams & { detached: true }): Promise<DetachedCommand>;
  runCommand(cmd: string, args?: string[]): Promise<CommandFinished>;
  runCommand(params: RunParams): Promise<CommandFinished>;
  /** A file's bytes, or `null` when there is none. A directory rejects (`EISDIR`). */
  readFile(file: { path: string; cwd?: string }): Promise<ReadableStream<Uint8Array> | null>;
  /** Writes files one after another, replacing existing ones, and makes their directories. */
  writeFiles(files: { path: string; content: string | Uint8Array }[]): Promise<void>;
  /** Makes a directory and those above it. Existing ones are left as they are. */
  mkDir(path: string): Promise<void>;
  /**
   * Ends everything that was started so far, including detached programs and processes that commands left running, and
   * resolves when all have ended. The directory stays, the sandbox can still be used, and it may be stopped again.
   * Rejects with `EPERM` and the pids if a process is left that may not be signalled.
   */
  stop(): Promise<void>;
}

/** A sandbox of `createLocalSandbox`. */
export type LocalSandbox = Sandbox;
