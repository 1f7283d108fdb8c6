import type { BashPrompt, BashSnapshot, OutputChunk } from '../native.cjs';
import type { ConfineOptions } from './confine/types.ts';
import type { BackgroundRegistry } from './registry/index.ts';
import type { SafetyOptions } from './safety/types.ts';

/**
 * Options of a command. Every option may be left out, and `undefined` counts as left out. An option that does not
 * exist is `ERR_BASH_INVALID_ARG`.
 */
export interface BashOptions {
  /**
   * Positional parameters of the command, `$1` and on.
   *
   * @default []
   * @example await bash('printf "%s\n" "$1"', { args: ["it's data"] });
   */
  args?: string[] | undefined;
  /**
   * The directory in which the command starts. A relative one is resolved against `process.cwd()`. It must exist
   * (`ERR_BASH_CWD_NOT_FOUND`) and be a directory (`ERR_BASH_CWD_NOT_DIRECTORY`).
   *
   * @default process.cwd()
   * @example await bash('npm test', { cwd: '/home/ann/project' });
   */
  cwd?: string | undefined;
  /**
   * Variables laid over the inherited ones and over the unattended defaults. `null` or `undefined` removes a name.
   * Values never appear in an argument list, a log or an error.
   *
   * @default {}
   * @example await bash('make', { env: { CC: 'clang', MAKEFLAGS: null } });
   */
  env?: Record<string, string | null | undefined> | undefined;
  /**
   * Which variables of `process.env` the command inherits: `'safe'` all but secrets, `'all'`, `'none'`, or exactly
   * these names.
   *
   * @default 'safe'
   * @example await bash('env', { inheritEnv: ['PATH', 'HOME'] });
   */
  inheritEnv?: 'safe' | 'all' | 'none' | string[] | undefined;
  /**
   * The time limit by kind of work: `'default'` 30 s (120 s if the command then moves to the background), `'slow'` 15
   * min. `'background'` starts the command as a task and resolves at once with status `'backgrounded'`; its limit is 24
   * h.
   *
   * @default 'default'
   * @example await bash('cargo build --release', { mode: 'slow' });
   */
  mode?: 'default' | 'slow' | 'background' | undefined;
  /**
   * The time limit in ms, a whole number from 1 to 86,400,000, counted from the start of the process. It replaces the
   * limit of `mode`.
   *
   * @default the limit of `mode`
   * @example await bash('npm ci', { timeoutMs: 300_000 });
   */
  timeoutMs?: number | undefined;
  /**
   * The longest time without output, in ms, a whole number from 1 to 86,400,000: a command that is silent for that long
   * is at its time limit, and a note says so. It counts from the start and from each output on either stream. Any byte
   * is output, also a carriage return or an escape sequence that `sanitize` removes. A task that was started in the
   * background is ended; a command that has moved there may be silent. It never counts in a terminal.
   *
   * @default none
   * @example await bash('npm ci', { mode: 'slow', idleTimeoutMs: 60_000 });
   */
  idleTimeoutMs?: number | undefined;
  /**
   * The reaction to the limit, of time or of silence: `'kill'` ends the whole process tree, `'background'` turns the
   * command into a task, and the promise resolves with the output so far.
   *
   * @default 'background' with a `registry`, else 'kill'
   * @example await bash('npm run dev', { onTimeout: 'background' });
   */
  onTimeout?: 'kill' | 'background' | undefined;
  /**
   * Time from SIGTERM to SIGKILL, in ms, when the tree is ended: a whole number from 0 to 15,000.
   *
   * @default 2_000
   * @example await bash('./server', { timeoutMs: 5_000, graceMs: 10_000 });
   */
  graceMs?: number | undefined;
  /**
   * Ends the whole tree when it is aborted. The promise then resolves with status `'aborted'`. A signal that was
   * aborted before the call starts nothing. A command that has moved to the background no longer listens to it.
   *
   * @default none
   * @example await bash('npm test', { signal: AbortSignal.timeout(60_000) });
   */
  signal?: AbortSignal | undefined;
  /**
   * The standard input of the command, which is closed at its end. A string is sent as UTF-8.
   *
   * @default `/dev/null`
   * @example await bash('jq .name', { stdin: JSON.stringify({ name: 'ann' }) });
   */
  stdin?: string | Uint8Array | undefined;
  /**
   * Whether both streams share one pipe, in the order of writing. All output is then in `stdout`.
   *
   * @default false
   * @example await bash('make', { merge: true });
   */
  merge?: boolean | undefined;
  /**
   * The part of each stream that is kept.
   *
   * @default TRUNCATE.tail
   * @example await bash('npm test', { truncate: { keep: 'tail', maxLines: 200 } });
   */
  truncate?: Truncate | undefined;
  /**
   * Whether escape sequences and control characters are removed and progress lines collapse. `true` is
   * `{ ansi: true, progress: 'collapse' }`.
   *
   * @default true
   * @example await bash('ls --color=always', { sanitize: { ansi: false } });
   */
  sanitize?: boolean | SanitizeOptions | undefined;
  /**
   * Whether a stream that passes its limit in bytes or characters is also written to a private file as a whole.
   *
   * @default true
   * @example await bash('npm test', { spill: { dir: '/var/tmp/agent-output' } });
   */
  spill?: boolean | SpillOptions | undefined;
  /**
   * Receives every byte of both streams as sanitized text, in order, in batches of at most 64 KiB. One call is in
   * flight at a time, and a returned promise is waited for. A listener that throws or rejects is removed, and a note
   * says so. A command in the background does not call it: see `BackgroundRegistry.on`.
   *
   * @default none
   * @example await bash('npm test', { onOutput: ({ text }) => void process.stdout.write(text) });
   */
  onOutput?: ((chunk: OutputChunk) => void | Promise<void>) | undefined;
  /**
   * Receives a live view of the command: the last 8 KiB of each stream, the unfinished line included, after each
   * `snapshotIntervalMs` in which something changed. One call is in flight at a time. A listener that throws or rejects
   * is removed, and a note says so.
   *
   * @default none
   * @example await bash('npm test', { onSnapshot: ({ stdout }) => draw(stdout) });
   */
  onSnapshot?: ((snapshot: BashSnapshot) => void | Promise<void>) | undefined;
  /**
   * Time between two calls of `onSnapshot`, in ms: a whole number from 10 to 60,000.
   *
   * @default 250
   * @example await bash('npm test', { onSnapshot: draw, snapshotIntervalMs: 1_000 });
   */
  snapshotIntervalMs?: number | undefined;
  /**
   * Called within 1 s, once for each prompt, when the command waits for input that only a person can give. `prompt.pid`
   * is the process that waits, of its terminal or of a pipe or FIFO without another writer, and `prompt.text` is the
   * line that the command has not ended (`Password: `), `''` if there is none.
   *
   * Blocked processes are seen on Linux alone, and a command that is only slow is not reported. A line that plainly
   * asks (for a password, for yes or no) is reported on every system, with the shell as its process if no other is seen
   * to wait. A listener that throws or rejects is removed, and a note says so. A command in the background does not
   * call it.
   *
   * @default none: processes are not scanned
   * @example await bash('sudo make install', { onPrompt: ({ text }) => notify(text) });
   */
  onPrompt?: ((prompt: BashPrompt) => void | Promise<void>) | undefined;
  /**
   * The place of tasks: commands that start in or move to the background, and processes that a command leaves running
   * with its output still open.
   *
   * @default none; tasks without a registry go to `defaultRegistry()`
   * @example await bash('npm run dev', { registry: new BackgroundRegistry() });
   */
  registry?: BackgroundRegistry | undefined;
  /**
   * How the command is judged before anything starts: `'default'` by the rules as they are, `'off'` not at all, for
   * hosts that judge elsewhere, or what differs from the default. A denied command is `ERR_BASH_BLOCKED`.
   *
   * @default 'default'
   * @example await bash('git clean -fd', { safety: { onAsk: 'deny' } });
   */
  safety?: 'default' | 'off' | SafetyOptions | undefined;
  /**
   * The shell: a path, or a name on the PATH of `process.env`. A missing one is `ERR_BASH_SHELL_NOT_FOUND`.
   *
   * @default 'bash'
   * @example await bash('print -r -- $ZSH_VERSION', { shell: 'zsh' });
   */
  shell?: string | undefined;
  /**
   * Words before the command. The shell runs `<prefix> <command>`, with one blank between, and that text is judged. The
   * prefix applies to the first line of a command alone.
   *
   * @default none
   * @example await bash('npm test', { prefix: 'nice -n 10' });
   */
  prefix?: string | undefined;
  /**
   * Whether the command has the user's own aliases, functions, options and PATH: `true` reads the rc files of the user,
   * a path that file alone. A relative path is resolved against `process.cwd()`. Files are read once, for at most 10 s,
   * and again when they change. If that fails, the command runs without them, with a note.
   *
   * @default false
   * @example await bash('ll', { snapshot: true });
   */
  snapshot?: boolean | string | undefined;
  /**
   * Whether a warm shell, one that has started already, may run the command if no command could tell the difference.
   * `AGENT_BASH_WARM=0` in the host's environment turns this off.
   *
   * @default true
   * @example await bash('true', { warm: false });
   */
  warm?: boolean | undefined;
  /**
   * Limits beside the time limit. A note names a limit that was exceeded.
   *
   * @default none
   * @example await bash('npm test', { limits: { memoryBytes: 2 * 1024 ** 3, cpuSeconds: 600 } });
   */
  limits?: BashLimits | undefined;
  /**
   * The reach of the command, whatever its text: which files it can read and change, which hosts it can reach, which
   * processes it can see. `'workspace'` lets it change files below `cwd` alone, with no network and no secrets of the
   * home. `'read-only'` lets it change no files at all. An object says more. `'off'` confines nothing.
   *
   * Commands with equal confinement share a world: its loopback, its private `/tmp`, its processes. Those of one tool,
   * session or registry belong together, and so do plain calls of `bash()`. A confinement that this machine cannot hold
   * is `ERR_BASH_CONFINEMENT`, with `missing`, and nothing is started. `result.confinement` lists the parts that were
   * held and the denials.
   *
   * @default 'off'
   * @example await bash('npm test', { confine: 'workspace' });
   */
  confine?: 'off' | 'read-only' | 'workspace' | ConfineOptions | undefined;
}

/** Limits of a command beside its time limit. None of them raises one of the system. */
export interface BashLimits {
  /**
   * CPU time in seconds that all processes of the command may use together, a number above 0. Over it the tree is
   * ended: SIGTERM, `graceMs`, SIGKILL.
   *
   * @default none
   * @example await bash('npm test', { limits: { cpuSeconds: 0.5 } });
   */
  cpuSeconds?: number | undefined;
  /**
   * Memory in bytes that all processes of the command may hold together, shared memory counted once: a whole number of
   * at least 1. Over it the tree is ended at once by SIGKILL.
   *
   * @default none
   * @example await bash('npm test', { limits: { memoryBytes: 2 * 1024 ** 3 } });
   */
  memoryBytes?: number | undefined;
  /**
   * How many processes the command may have at once, its shell included: a whole number of at least 1. Over it the tree
   * is ended at once by SIGKILL.
   *
   * @default none
   * @example await bash('make -j', { limits: { processes: 64 } });
   */
  processes?: number | undefined;
  /**
   * How many files each process may have open, standard streams included: a whole number of at least 1. The system
   * refuses more (EMFILE).
   *
   * @default none
   * @example await bash('./server', { limits: { openFiles: 256 } });
   */
  openFiles?: number | undefined;
  /**
   * How large in bytes a file may become by a write of the command: a whole number of at least 1. The system refuses
   * more (SIGXFSZ, EFBIG).
   *
   * @default none
   * @example await bash('./export', { limits: { fileBytes: 100 * 1024 ** 2 } });
   */
  fileBytes?: number | undefined;
}

/**
 * The part of a stream that is kept: its end, its beginning, or both ends. Limits are whole numbers of at least 1. A
 * limit that is left out does not hold, but at most 16 MiB are kept in any case.
 */
export type Truncate =
  | {
      /**
       * Which part is kept, up to the limit that is reached first: whole lines of
       * the end, or the beginning, which may end inside a line.
       *
       * @example await bash('npm test', { truncate: { keep: 'head', maxLines: 100 } });
       */
      keep: 'tail' | 'head';
      /**
       * Lines.
       *
       * @default no limit
       * @example await bash('npm test', { truncate: { keep: 'tail', maxLines: 200 } });
       */
      maxLines?: number | undefined;
      /**
       * Bytes of UTF-8.
       *
       * @default no limit but 16 MiB
       * @example await bash('npm test', { truncate: { keep: 'tail', maxBytes: 20_000 } });
       */
      maxBytes?: number | undefined;
      /**
       * UTF-16 units, as JavaScript counts characters.
       *
       * @default no limit
       * @example await bash('npm test', { truncate: { keep: 'head', maxChars: 30_000 } });
       */
      maxChars?: number | undefined;
    }
  | {
      /**
       * Both ends of a stream that is longer than `maxBytes`. `headBytes` and `tailBytes` together are at most
       * `maxBytes`.
       *
       * @example await bash('npm test', { truncate: TRUNCATE.ends });
       */
      keep: 'ends';
      /**
       * Bytes of UTF-8 up to which a stream stays whole.
       *
       * @example await bash('make', { truncate: { keep: 'ends', maxBytes: 65_536, headBytes: 2_048, tailBytes: 8_192 }
       * });
       */
      maxBytes: number;
      /**
       * Bytes that are kept of the beginning of a longer stream.
       *
       * @example await bash('make', { truncate: { keep: 'ends', maxBytes: 65_536, headBytes: 2_048, tailBytes: 8_192 }
       * });
       */
      headBytes: number;
      /**
       * Bytes that are kept of its end.
       *
       * @example await bash('make', { truncate: { keep: 'ends', maxBytes: 65_536, headBytes: 2_048, tailBytes: 8_192 }
       * });
       */
      tailBytes: number;
    };

/** How output is cleaned. */
export interface SanitizeOptions {
  /**
   * Whether escape sequences are removed.
   *
   * @default true
   * @example await bash('ls --color=always', { sanitize: { ansi: false } });
   */
  ansi?: boolean | undefined;
  /**
   * `'collapse'` shows a progress line as a terminal would in the end, `'keep'` delivers it as it comes.
   *
   * @default 'collapse'
   * @example await bash('curl -O https://example.com/file', { sanitize: { progress: 'keep' } });
   */
  progress?: 'collapse' | 'keep' | undefined;
}

/** Where whole output goes. */
export interface SpillOptions {
  /**
   * The directory of the files, made with mode 0700 if it is missing.
   *
   * @default a private directory below `TMPDIR`
   * @example await bash('npm test', { spill: { dir: '/var/tmp/agent-output' } });
   */
  dir?: string | undefined;
  /**
   * The most that a file may hold, in bytes, a whole number of at least 1. A longer one keeps its beginning.
   *
   * @default 1_073_741_824 (1 GiB)
   * @example await bash('npm test', { spill: { maxBytes: 10 * 1024 ** 2 } });
   */
  maxBytes?: number | undefined;
  /**
   * Age in ms from which files of this package are removed when a new one is written, a whole number of at least 0.
   *
   * @default 604_800_000 (7 days)
   * @example await bash('npm test', { spill: { retentionMs: 3_600_000 } });
   */
  retentionMs?: number | undefined;
  /**
   * Gives the place in an artifact store of the host, when a stream overflows. `null` or a throw sets `spillError`, and
   * the command goes on.
   *
   * @default none: a file in `dir`
   * @example await bash('npm test', { spill: { allocate: (stream) => store.place(`${stream}.log`) } });
   */
  allocate?: ((stream: 'stdout' | 'stderr') => { id: string; path: string } | null) | undefined;
}
