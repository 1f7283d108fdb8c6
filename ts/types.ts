import type { BashPrompt, BashSnapshot, OutputChunk } from '../native.cjs';
import type { WrapperKind } from './analysis';
import type { BackgroundRegistry } from './registry';

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
  /** The time limit by kind of work: `'default'` 30 s (120 s when the command then moves to the background), `'slow'` 15 min. `'background'` starts it as a task and resolves at once, status `'backgrounded'`; its limit is 24 h. */
  mode?: 'default' | 'slow' | 'background' | undefined;
  /** The time limit in ms, a whole number from 1 to 86,400,000, counted from the start of the process. It overrides the one of `mode`. */
  timeoutMs?: number | undefined;
  /** What happens at the limit: `'kill'` ends the whole tree; `'background'` lets it go on as a task, and the promise resolves with the output so far. Default: `'background'` when `registry` is given, else `'kill'`. */
  onTimeout?: 'kill' | 'background' | undefined;
  /** From SIGTERM to SIGKILL in ms, when the tree is ended: a whole number from 0 to 15,000, default 2,000. */
  graceMs?: number | undefined;
  /** Ends the whole tree when it is aborted; the promise then resolves with status `'aborted'`. One that was aborted before starts nothing, and what goes on in the background is no longer touched by it. */
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
  /** Every byte of both streams as sanitized text, in order, in batches of at most 64 KiB; one call at a time, a returned promise is waited for. A throw or rejection takes the listener away and is a note. Not called with mode `'background'`, nor after a move to it: see `BackgroundRegistry.on`. */
  onOutput?: ((chunk: OutputChunk) => void | Promise<void>) | undefined;
  /** A live view of the command: called after each `snapshotIntervalMs` in which it was still running and something changed, with the last 8 KiB of each stream, the unfinished line included. One call at a time; a throw or rejection takes the listener away and is a note. */
  onSnapshot?: ((snapshot: BashSnapshot) => void | Promise<void>) | undefined;
  /** How often `onSnapshot` may be called, in ms, a whole number from 10 to 60,000. Default 250. */
  snapshotIntervalMs?: number | undefined;
  /**
   * A command waits for somebody: called within 1 s, once for each prompt, with the process that waits for input (of its terminal, or of a pipe or FIFO
   * that nobody else writes to), its command line, and the line that it has not ended («Password: »), `''` if there is none. Who waits is
   * seen on Linux alone, and a command that is just slow is none; a line that plainly asks (for a password, for yes or no) is told in any case, with the shell
   * if nobody else is seen to wait. A throw or rejection takes the listener away and is a note. Not called for what runs
   * in the background. Default: nobody looks.
   */
  onPrompt?: ((prompt: BashPrompt) => void | Promise<void>) | undefined;
  /** Where tasks live: what is started in or moved to the background, and processes that a command leaves running with its output still open. Default: none, and `defaultRegistry()` for what is to go to the background. */
  registry?: BackgroundRegistry | undefined;
  /** How the command is judged before anything starts: `'default'`, by the rules as they are; `'off'`, not at all, for hosts that judge elsewhere; or what differs from the default. A denied command is `ERR_BASH_BLOCKED`. */
  safety?: 'default' | 'off' | SafetyOptions | undefined;
  /** The shell: a path, or a name on the PATH. Default: the bash found on the caller's PATH. A missing one is `ERR_BASH_SHELL_NOT_FOUND`. */
  shell?: string | undefined;
  /** Words before the command: the shell runs `<prefix> <command>`, with one blank between, and that is what safety judges. It stands before the first line of a command alone. Default none. */
  prefix?: string | undefined;
  /** Whether the command has the user's own aliases, functions, options and PATH: `true` reads the rc files of the user, a path that file alone; relative ones are resolved against `process.cwd()`. Read once, for at most 10 s, and again when they change. Where that comes to nothing the command runs without, with a note. Default `false`. */
  snapshot?: boolean | string | undefined;
  /** Whether a shell that has started up already and waits may run the command, where no command could tell. Default true; `AGENT_BASH_WARM=0` in the host's environment turns it off. */
  warm?: boolean | undefined;
  /** What the command may use beside its time. Default: no limit. One that is broken is named in a note. */
  limits?: BashLimits | undefined;
}

/** How commands are judged, where that differs from the default. Nothing else may be given: a mistyped name would leave things as they are. */
export interface SafetyOptions {
  /** Rules by their id: turned off, or to another level. An id that there is not is `ERR_BASH_INVALID_ARG`. At `'deny'` only an exact finding denies; a less sure one asks. */
  rules?: Record<string, 'off' | 'warn' | 'ask' | 'deny'> | undefined;
  /** Programs of your own that run other commands, by name: `{ 'with-retries': 'exec-rest' }`. What they run is then judged too. */
  wrappers?: Record<string, WrapperKind> | undefined;
  /** What `bash()` does with a command that a person would be asked about: runs it with a note (`'allow'`, the default), or refuses it like a denied one (`'deny'`), for hosts that nobody watches. */
  onAsk?: 'allow' | 'deny' | undefined;
}

/** What `analyze` takes into account. */
export interface AnalyzeOptions extends SafetyOptions {
  /** The folder that the command would start in; it need not exist. Relative ones are resolved against `process.cwd()`, which is the default. */
  cwd?: string | undefined;
  /** All variables that the command would see; `undefined` counts as not set. Default `process.env`. */
  env?: Record<string, string | undefined> | undefined;
  /** The home folder of the user. Default: `HOME` of `env`, else the one of the system. */
  home?: string | undefined;
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

/** How a `BackgroundRegistry` keeps its tasks. */
export interface BackgroundRegistryOptions {
  /** The folder of tasks that outlive this process, made with 0700 if missing; relative ones are resolved against `process.cwd()`. Default: a temporary one, which goes with `close()` or this process, and the tasks with it. */
  dir?: string | undefined;
  /** The most tasks that may run at once, default 64. At that number a start is refused with `ERR_BASH_TOO_MANY_TASKS`, and what would move to the background at its limit is killed, with a note. */
  maxTasks?: number | undefined;
  /** The most that a log may hold, in bytes, default 1 GiB. What comes after is dropped, with a note in the log; the task goes on. */
  maxLogBytes?: number | undefined;
  /** How long an ended task and its log are kept, in ms after its end. Default 7 days. */
  retentionMs?: number | undefined;
}

/** What `BackgroundRegistry.wait` waits for, beside the end of the task. */
export interface BackgroundWaitOptions {
  /** How long, in ms, a whole number of at least 0. Default: no limit. */
  timeoutMs?: number | undefined;
  /** Text that the task writes, or has written and nobody has read yet. A string is the source of a regular expression; of a `RegExp`, `g` and `y` have no meaning. One that the engine cannot do is `ERR_BASH_INVALID_ARG`. */
  pattern?: string | RegExp | undefined;
  /** A TCP port of this machine, 1 to 65535, that accepts a connection. */
  port?: number | undefined;
  /** Ends the wait, which then resolves with what there is; the task goes on. */
  signal?: AbortSignal | undefined;
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
