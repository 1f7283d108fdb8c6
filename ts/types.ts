import type { BashSnapshot, OutputChunk } from '../native.cjs';

/** What a command is run with. Every field may be left out; `undefined` counts as left out. */
export interface BashOptions {
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
export interface BashLimits {
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
export type Truncate =
  | { keep: 'tail' | 'head'; maxLines?: number; maxBytes?: number; maxChars?: number }
  | { keep: 'ends'; maxBytes: number; headBytes: number; tailBytes: number };

/** How output is cleaned. */
export interface SanitizeOptions {
  /** Remove escape sequences. Default `true`. */
  ansi?: boolean | undefined;
  /** `'collapse'` (default) shows a progress line as a terminal would in the end; `'keep'` delivers it as it comes. */
  progress?: 'collapse' | 'keep' | undefined;
}

/** Where whole output goes. */
export interface SpillOptions {
  /** The folder; made with 0700 if missing. Default: a private folder below `TMPDIR`. */
  dir?: string | undefined;
  /** The most a file may hold, in bytes; it then keeps its beginning. Default 1 GiB. */
  maxBytes?: number | undefined;
  /** Files of ours older than this are removed when a new one is written, in ms. Default 7 days. */
  retentionMs?: number | undefined;
  /** A caller's artifact store: called when a stream overflows. `null` or a throw sets `spillError`, and the run goes on. */
  allocate?: ((stream: 'stdout' | 'stderr') => { id: string; path: string } | null) | undefined;
}
