import type { Confined, Losable, Recorded } from '../types.ts';
import type { CommandSetting, PathOptions, WriteOptions } from './options.ts';

/** A command of `run`. */
export interface SandboxRunOptions extends CommandSetting {
  /**
   * The command, run by `bash -c`, byte for byte.
   *
   * @example await session.run({ command: 'ls -la' });
   */
  command: string;
}

/** A command of `spawn`. */
export interface SandboxSpawnOptions extends SandboxRunOptions {
  /**
   * Whether its standard input is kept open, as `stdin` of the handle. Otherwise it is empty.
   *
   * @default false
   * @example const cat = await session.spawn({ command: 'cat', stdin: true });
   */
  stdin?: boolean | undefined;
}

/** The end and the output of a command: whole and unchanged, except that bytes that are not UTF-8 become U+FFFD. */
export interface SandboxRunResult extends Losable, Confined, Recorded {
  /** 0…255; 128 + n after signal n, 130 after an abort, 124 at a time limit of the caller. */
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** A command that was spawned. */
export interface SandboxProcess {
  /** Process id of the shell, also the process group id. */
  readonly pid: number;
  /**
   * The bytes of the standard output. The command is held back once 1 MiB of output is unread, or 64 MiB after a
   * `wait()`. `cancel()` drops the rest.
   */
  readonly stdout: ReadableStream<Uint8Array>;
  /** The bytes of the standard error, with the same limits. */
  readonly stderr: ReadableStream<Uint8Array>;
  /**
   * Resolves at the end of the process, also if up to 64 MiB of each stream were not read. Rejects with the reason of
   * the `abortSignal` if the signal ended the process. May be called any number of times.
   */
  wait(): Promise<{ exitCode: number } & Losable & Confined & Recorded>;
  /**
   * Ends the process and everything it started: SIGTERM, grace, SIGKILL. Resolves when this is done; `wait()` then
   * gives 130. Does nothing if the process has ended.
   */
  kill(): Promise<void>;
}

/** A process whose standard input is open. */
export interface WritableSandboxProcess extends SandboxProcess {
  /**
   * A write resolves once the command has room for it, and rejects with `EPIPE` if it no longer reads. Closing it ends
   * the input after the bytes that were written.
   */
  readonly stdin: WritableStream<Uint8Array>;
}

/** The target of a path; symbolic links are followed. */
export interface SandboxFileStat {
  /** `'other'` is a device, a socket or a named pipe. */
  type: 'file' | 'directory' | 'other';
  /** In bytes. */
  size: number;
}

/** An entry of a directory; symbolic links are not followed. */
export interface SandboxDirectoryEntry {
  /** The name without its directory. */
  name: string;
  type: 'file' | 'directory' | 'symlink' | 'other';
}

/**
 * The `SandboxSession` of ai 7: commands and files behind one face. Relative paths, `workingDirectory` too, start in
 * one directory that never changes. Nothing throws synchronously; an `abortSignal` that was aborted before rejects with
 * its reason.
 */
export interface SandboxSession {
  /** A description of the session for a model's instructions. */
  readonly description: string;
  /**
   * Runs a command to its end. An abort midway ends it and all it started, and resolves with the output so far. Rejects
   * with a `BashError` when nothing could be run.
   */
  readonly run: (options: SandboxRunOptions) => Promise<SandboxRunResult>;
  /**
   * Starts a command and resolves once it runs. Rejects with a `BashError` when nothing could be run. It keeps Node
   * alive, and ends with it.
   */
  readonly spawn: {
    (options: SandboxRunOptions & { stdin: true }): Promise<WritableSandboxProcess>;
    (options: SandboxRunOptions & { stdin?: false }): Promise<SandboxProcess>;
    (options: SandboxSpawnOptions): Promise<SandboxProcess | WritableSandboxProcess>;
  };
  /** A file's bytes as they are read, `null` when there is none. A directory rejects (`EISDIR`). */
  readonly readFile: (options: PathOptions) => Promise<ReadableStream<Uint8Array> | null>;
  /** A file's bytes, `null` when there is none. */
  readonly readBinaryFile: (options: PathOptions) => Promise<Uint8Array | null>;
  /** A file's text, or some lines of it, `null` when there is none. */
  readonly readTextFile: (
    options: PathOptions & {
      /** A `Buffer` encoding, or any encoding that `TextDecoder` knows. Default `'utf-8'`. */
      encoding?: string | undefined;
      /** The first line, from 1. Default 1. */
      startLine?: number | undefined;
      /** The last line, itself included. Default, and past the end: the last of the file. */
      endLine?: number | undefined;
    },
  ) => Promise<string | null>;
  /**
   * Writes a file as its bytes come, replacing an existing one, and makes its directories. A directory rejects
   * (`EISDIR`).
   */
  readonly writeFile: (options: WriteOptions<ReadableStream<Uint8Array>>) => Promise<void>;
  /** Writes a file from its bytes. */
  readonly writeBinaryFile: (options: WriteOptions<Uint8Array>) => Promise<void>;
  /** Writes a file from its text. */
  readonly writeTextFile: (
    options: WriteOptions<string> & {
      /** A `Buffer` encoding. Default `'utf-8'`. */
      encoding?: string | undefined;
    },
  ) => Promise<void>;
  /** Resolves with the target of a path, `null` if there is none. */
  readonly stat: (options: PathOptions) => Promise<SandboxFileStat | null>;
  /**
   * Resolves with the entries of a directory, in no order; `null` if there is none. Another kind of file rejects
   * (`ENOTDIR`).
   */
  readonly listDirectory: (options: PathOptions) => Promise<SandboxDirectoryEntry[] | null>;
  /** Deletes a file, or a link itself; `false` when there is none. A directory rejects (`EISDIR`). */
  readonly deleteFile: (options: PathOptions) => Promise<boolean>;
}

/**
 * A session on this machine, or on a target. Without `confine`, commands and paths reach whatever the user can reach.
 * With `confine`, commands and the methods for files reach the same files.
 */
export interface DisposableSandboxSession extends SandboxSession {
  /**
   * Ends all that the session started, including processes that commands left running, and removes its private home.
   * The directory stays, and the session can go on being used. Rejects with `EPERM` and the pids when something is left
   * that may not be signalled.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A session of `createLocalSandboxSession`. */
export type LocalSandboxSession = DisposableSandboxSession;
