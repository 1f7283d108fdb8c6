// Written by `npm run build:ts` from ts/index.ts: do not edit.

//#region native.d.cts
/** How a command ended and what it wrote: plain own-property data, whole after `structuredClone` and a JSON round trip. */
interface BashResult {
  /** What is kept of standard output as sanitized text, with its notice; with `merge` of both streams. */
  stdout: string;
  /** What is kept of standard error; empty with `merge`. */
  stderr: string;
  /** 0…255; 128+n after signal n; 124 after the time limit; 130 after an abort; `null` only when `'backgrounded'`. */
  exitCode: number | null;
  /** How it ended. */
  status: 'exited' | 'signaled' | 'timed-out' | 'aborted' | 'backgrounded';
  /** What really ended the shell (`'SIGKILL'`), or `null` when it ended with an exit code; after a time limit too. */
  signal: string | null;
  /** Process id of the shell, also its process group id; 0 if nothing was started. */
  pid: number;
  /** From the start of the shell to its end, in ms. */
  durationMs: number;
  /** The limit that held, in ms, counted from the start of the process. */
  timeoutMs: number | null;
  /** How each stream was cut. */
  truncation: BashTruncation;
  /** Always `null` in this version. */
  background: null | null;
  /**
   * Processes that the command left running after the shell ended. They are not ended, and their later writes go
   * nowhere and hurt nobody.
   */
  survivors: Array<Survivor>;
  /** What the shell and the processes it waited for used. */
  usage: BashUsage;
  /** One fact a line that the caller or the model should know. */
  notes: Array<string>;
}
/** A running command as it looks now. */
interface BashSnapshot {
  /** Process id of the shell, also its process group id. */
  pid: number;
  /** The last 8 KiB of sanitized standard output, the unfinished line included. */
  stdout: string;
  /** The same of standard error; empty with `merge`. */
  stderr: string;
  /** Since the start of the process, in ms. */
  durationMs: number;
}
/** How each stream was cut; `null` where the text is the whole stream. */
interface BashTruncation {
  /** Of standard output. */
  stdout: Truncation | null;
  /** Of standard error. */
  stderr: Truncation | null;
}
/** Resources that a command used. */
interface BashUsage {
  /** CPU time in user mode, in ms. */
  userMs: number;
  /** CPU time in the kernel, in ms. */
  systemMs: number;
  /** The largest resident size of one process, in bytes. */
  maxRssBytes: number;
}
/** A piece of live output. */
interface OutputChunk {
  /** Where it was written; with `merge` always `'stdout'`. */
  stream: 'stdout' | 'stderr';
  /** Sanitized text, at most 64 KiB of UTF-8, never cut inside a character. */
  text: string;
}
/** A process that a command left running. */
interface Survivor {
  /** Its process id. */
  pid: number;
  /** Its command line, at most 200 characters. */
  command: string;
  /** Always `null` in this version. */
  taskId: null | null;
}
/** How a stream was cut. Figures are of the sanitized stream and leave the notice out. */
interface Truncation {
  /** What was kept. */
  keep: 'tail' | 'head' | 'ends';
  /** The limit that was hit first. */
  by: 'lines' | 'bytes' | 'chars';
  /** Lines of the stream, an unfinished last one included. */
  totalLines: number;
  /** Bytes of the stream. */
  totalBytes: number;
  /** Lines shown, cut ones included. */
  outputLines: number;
  /** Bytes shown. */
  outputBytes: number;
  /** First line shown, 1-based (`'ends'`: of the head part, then see `notice`). */
  firstLine: number;
  /** Last line shown, 1-based. */
  lastLine: number;
  /** The first (tail) or last (head) line shown is cut. */
  partialLine: boolean;
  /** The whole sanitized stream, when it was written out; `null` when it was not. */
  path: string | null;
  /** The id that `spill.allocate` gave, or `null`. */
  artifactId: string | null;
  /** Why the file is incomplete or missing, at most 80 bytes, or `null`. */
  spillError: string | null;
  /** The words that were added to the text. */
  notice: string;
}
//#endregion
//#region ts/types.d.ts
/** What a command is run with. Every field may be left out; `undefined` counts as left out. */
interface BashOptions {
  /** Positional parameters of the command, `$1` and on. Default none. */
  args?: string[] | undefined;
  /** The folder the command starts in; relative ones are resolved against `process.cwd()`, which is the default. It must exist and be a directory. */
  cwd?: string | undefined;
  /** Variables laid over what is inherited and over the unattended defaults; `null` (or `undefined`) removes a name. Values never appear in an argument list, a log or an error. */
  env?: Record<string, string | null | undefined> | undefined;
  /** What of the caller's `process.env` the command sees. `'safe'` (default): all but secrets; `'all'`, `'none'`, or exactly these names. */
  inheritEnv?: 'safe' | 'all' | 'none' | string[] | undefined;
  /** The time limit by kind of work: `'default'` 30 s, `'slow'` 15 min. `'background'` answers `ERR_BASH_UNSUPPORTED` in this version. */
  mode?: 'default' | 'slow' | 'background' | undefined;
  /** The time limit in ms, a whole number from 1 to 86,400,000, counted from the start of the process. It overrides the one of `mode`. */
  timeoutMs?: number | undefined;
  /** What happens at the limit. `'background'` answers `ERR_BASH_UNSUPPORTED` in this version. */
  onTimeout?: 'kill' | 'background' | undefined;
  /** From SIGTERM to SIGKILL in ms, when the tree is ended: a whole number from 0 to 15,000, default 2,000. */
  graceMs?: number | undefined;
  /** Ends the whole tree when it is aborted; the promise then resolves with status `'aborted'`. One that was aborted before starts nothing. */
  signal?: AbortSignal | undefined;
  /** What the command reads on its standard input, which is closed at its end; `/dev/null` when left out. */
  stdin?: string | Uint8Array | undefined;
  /** One pipe for both streams, in the order of writing, all of it in `stdout`. Default `false`. */
  merge?: boolean | undefined;
  /** What is kept of each stream. Default `TRUNCATE.tail`. */
  truncate?: Truncate | undefined;
  /** Whether escape sequences and control characters are removed and progress lines collapsed. Default `true`, which is `{ ansi: true, progress: 'collapse' }`. */
  sanitize?: boolean | SanitizeOptions | undefined;
  /** Whether a stream that passes its byte or character limit is written out whole to a private file. Default `true`. */
  spill?: boolean | SpillOptions | undefined;
  /** Every byte of both streams as sanitized text, in order, in batches of at most 64 KiB; one call at a time, a returned promise is waited for. A throw or rejection takes the listener away and is a note. */
  onOutput?: ((chunk: OutputChunk) => void | Promise<void>) | undefined;
  /** A live view of the command: called after each `snapshotIntervalMs` in which it was still running and something changed, with the last 8 KiB of each stream, the unfinished line included. One call at a time; a throw or rejection takes the listener away and is a note. */
  onSnapshot?: ((snapshot: BashSnapshot) => void | Promise<void>) | undefined;
  /** How often `onSnapshot` may be called, in ms, a whole number from 10 to 60,000. Default 250. */
  snapshotIntervalMs?: number | undefined;
  /** Not in this version: `ERR_BASH_UNSUPPORTED`. */
  registry?: unknown;
  /** Accepted; the safety engine is not part of this version and is off. */
  safety?: 'default' | 'off' | object | undefined;
  /** The shell: a path, or a name on the PATH. Default: the bash found on the caller's PATH. A missing one is `ERR_BASH_SHELL_NOT_FOUND`. */
  shell?: string | undefined;
  /** Not in this version: `ERR_BASH_UNSUPPORTED`. */
  prefix?: string | undefined;
  /** Not in this version: anything but `false` is `ERR_BASH_UNSUPPORTED`. */
  snapshot?: boolean | string | undefined;
  /** Accepted; warm shells are not part of this version and are off. */
  warm?: boolean | undefined;
  /** What the command may use beside its time. Default: no limit. One that is broken is named in a note. */
  limits?: BashLimits | undefined;
}
/** What a command may use. One left out is none; nothing else may be given. None of them raises what the system allows anyway. */
interface BashLimits {
  /** CPU time in seconds that all processes of the command may use together, a number above 0 (0.5 is half a second). Over it the tree is ended: SIGTERM, `graceMs`, SIGKILL. */
  cpuSeconds?: number | undefined;
  /** Memory in bytes that all processes of the command may hold together, what they share counted once: a whole number of at least 1. Over it the tree is ended at once by SIGKILL. */
  memoryBytes?: number | undefined;
  /** How many processes the command may have at once, its shell included: a whole number of at least 1. Over it the tree is ended at once by SIGKILL. */
  processes?: number | undefined;
  /** How many files each process may have open, standard streams included: a whole number of at least 1. The system refuses one more (EMFILE). */
  openFiles?: number | undefined;
  /** How large in bytes a file may become by a write of the command: a whole number of at least 1. The system refuses more (SIGXFSZ, EFBIG). */
  fileBytes?: number | undefined;
}
/** What is kept of a stream: its end, its beginning, or both ends. Limits are whole numbers of at least 1; one left out is none, but at most 16 MiB are kept whatever is asked. `maxChars` counts UTF-16 units. */
type Truncate = {
  keep: 'tail' | 'head';
  maxLines?: number;
  maxBytes?: number;
  maxChars?: number;
} | {
  keep: 'ends';
  maxBytes: number;
  headBytes: number;
  tailBytes: number;
};
/** How output is cleaned. */
interface SanitizeOptions {
  /** Remove escape sequences. Default `true`. */
  ansi?: boolean | undefined;
  /** `'collapse'` (default) shows a progress line as a terminal would in the end; `'keep'` delivers it as it comes. */
  progress?: 'collapse' | 'keep' | undefined;
}
/** Where whole output goes. */
interface SpillOptions {
  /** The folder; made with 0700 if missing. Default: a private folder below `TMPDIR`. */
  dir?: string | undefined;
  /** The most a file may hold, in bytes; it then keeps its beginning. Default 1 GiB. */
  maxBytes?: number | undefined;
  /** Files of ours older than this are removed when a new one is written, in ms. Default 7 days. */
  retentionMs?: number | undefined;
  /** A caller's artifact store: called when a stream overflows. `null` or a throw sets `spillError`, and the run goes on. */
  allocate?: ((stream: 'stdout' | 'stderr') => {
    id: string;
    path: string;
  } | null) | undefined;
}
//#endregion
//#region ts/errors.d.ts
/** The codes of a `BashError`. */
type BashErrorCode = 'ERR_BASH_INVALID_ARG' | 'ERR_BASH_CWD_NOT_FOUND' | 'ERR_BASH_CWD_NOT_DIRECTORY' | 'ERR_BASH_SHELL_NOT_FOUND' | 'ERR_BASH_SPAWN' | 'ERR_BASH_UNSUPPORTED';
/** Nothing could be run, and nothing was started. A command that ran is never an error, whatever its exit code. */
declare class BashError extends Error {
  readonly name = "BashError";
  /** What was wrong, one of `BashErrorCode`. */
  readonly code: string;
  /** The system's error (`'EAGAIN'`), with `ERR_BASH_SPAWN` where there is one. */
  readonly errno?: string;
  constructor(code: BashErrorCode | (string & {}), message: string, errno?: string);
}
//#endregion
//#region ts/index.d.ts
/**
 * Runs a command in a fresh, non-login bash and resolves when it has ended, with all that it wrote.
 *
 * A command that ran is never an error, whatever its exit code, and neither is a time limit or an abort. The promise
 * rejects with a `BashError` only when nothing could be run: `ERR_BASH_INVALID_ARG`, `ERR_BASH_CWD_NOT_FOUND`,
 * `ERR_BASH_CWD_NOT_DIRECTORY`, `ERR_BASH_SHELL_NOT_FOUND`, `ERR_BASH_SPAWN`, `ERR_BASH_UNSUPPORTED`. It never throws
 * synchronously and always settles.
 *
 * @param command goes to bash byte for byte, up to 64 MiB; one over 131,071 bytes reaches it as a script.
 * @param options see `BashOptions`; all may be left out.
 */
declare function bash(command: string, options?: BashOptions): Promise<BashResult>;
/** The three policies for output that is too long. `tail` is the default. */
declare const TRUNCATE: {
  tail: Truncate;
  ends: Truncate;
  head: Truncate;
};
//#endregion
export { BashError, type BashErrorCode, type BashLimits, type BashOptions, type BashResult, type BashSnapshot, type BashTruncation, type BashUsage, type OutputChunk, type SanitizeOptions, type SpillOptions, type Survivor, TRUNCATE, type Truncate, type Truncation, bash };
