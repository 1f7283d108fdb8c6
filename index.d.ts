// Written by `npm run build:ts` from ts/index.ts: do not edit.

//#region native.d.cts
/** A look at a task. */
interface BackgroundCheck {
  /** As it was at that time. */
  task: BackgroundTask;
  /** What is new in its log since the last look, cut like a result; without the closing line. */
  output: string;
  /** Lines of that before the cut, an unfinished last one included. */
  newLines: number;
  /** Up to where the log was read: an offset in bytes, for the `cursor` of a later check. */
  cursor: number;
  /** How it was cut, or `null`. */
  truncation: Truncation | null;
  /** Whether the pattern or the port was there that was waited for. */
  matched: boolean;
}
/** A command that goes on in the background. */
interface BackgroundTask {
  /** Names the task in its registry. */
  id: string;
  /**
   * Process id of its shell; of an adopted one that of its eldest process. 0 only of one that was lost before anybody
   * knew it.
   */
  pid: number;
  /** The process group of that process. */
  pgid: number;
  /** As it was given; of an adopted one the command line of its eldest process. */
  command: string;
  /** The folder it was started in, absolute. */
  cwd: string;
  /** Its log, absolute: all it wrote as sanitized text, and at the end one line that says how it ended. */
  logPath: string;
  /** Unix time in ms. */
  startedAt: number;
  /**
   * `'exited'` by itself; `'killed'` by `kill`, a signal or a limit; `'lost'` when nobody saw its end: the machine was
   * restarted, or its helper process was killed.
   */
  state: 'running' | 'exited' | 'killed' | 'lost';
  /** As in a `BashResult`; `null` while it runs and when it was lost. */
  exitCode: number | null;
  /** What ended it, or the strongest that was sent to end it (`'SIGTERM'`); `null` when it ended by itself. */
  signal: string | null;
  /** Unix time in ms; `null` while it runs. */
  endedAt: number | null;
}
/** A command waits for input that only somebody outside of it can give. */
interface BashPrompt {
  /** The process that waits: the deepest one, not the shell above it. That shell where only its last line tells. */
  pid: number;
  /** Its command line, at most about 100 characters, without control characters. */
  command: string;
  /** The line that the command has written and not ended, at most its last 200 characters, without control characters: «Password: ». `''` when there is none. */
  text: string;
}
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
  /** The task that it is, when `'backgrounded'`; else `null`. */
  background: BackgroundTask | null;
  /**
   * Processes that the command left running after the shell ended. They are not ended. With a registry those that
   * still hold the command's pipes become one task, whose log has the rest of their output; without one their later
   * writes go nowhere and hurt nobody.
   */
  survivors: Array<Survivor>;
  /** What the command's processes used; those that it left running, up to the end of the shell. */
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
  /** The task that it belongs to from now on, or `null`: it let go of the command's pipes, or there is no registry. */
  taskId: string | null;
}
/** A place on the screen, from 0. */
interface TerminalCursor {
  /** From the top. */
  row: number;
  /** From the left, in cells. */
  col: number;
}
/** What a program has asked of those who type for it. */
interface TerminalModes {
  /** Arrows are to be sent in their other form: `ESC O A` in place of `ESC [ A` (DECCKM). */
  applicationCursor: boolean;
  /** What is pasted is to stand between `ESC [ 200 ~` and `ESC [ 201 ~`. */
  bracketedPaste: boolean;
}
/** What a person would see of a terminal. */
interface TerminalScreen {
  /** One text a row, without blanks at its end: as many as the terminal has rows. A character of two cells stands once. */
  lines: Array<string>;
  /** Where the next character would go. */
  cursor: TerminalCursor;
  /** As the program has set it, `''` while it has not; at most 4 KiB. */
  title: string;
  /** The program draws the whole screen, as an editor or a pager does: what was there before comes back at its end. */
  alternate: boolean;
}
/** What a wait has come to. */
interface TerminalWaited {
  /** What came first. */
  reason: 'exit' | 'idle' | 'pattern' | 'timeout';
  /** As in `BashResult`; `null` while the program runs. */
  exitCode: number | null;
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
/** Shells of this process that wait for a command, and what became of others. Counts are of all its threads. */
interface WarmShells {
  /** They wait now. */
  waiting: number;
  /** Commands that were given to a waiting shell, so far. */
  used: number;
  /**
   * Of the shells that waited, those that could not be used after all: ended meanwhile, or their folder was another one
   * by then. The command started cold.
   */
  stale: number;
}
//#endregion
//#region ts/analysis.d.ts
/** What is to become of a command, from the mildest to the strictest: it runs; it runs, with a note; a person is asked; it does not run. */
type Verdict = 'allow' | 'warn' | 'ask' | 'deny';
/**
 * How a program runs another command: the words after its options are the command (`'exec-rest'`: sudo, env, nice), a word of it is a
 * script (`'shell-string'`: bash -c, eval), a script comes on its standard input (`'stdin-script'`: bash, ssh), or its words begin
 * a command that is run for each item (`'per-item'`: xargs, parallel).
 */
type WrapperKind = 'exec-rest' | 'shell-string' | 'stdin-script' | 'per-item';
/** What a command would do, as far as its text, its folder and its environment tell. Plain data. */
interface Analysis {
  /** As it was given. */
  command: string;
  /** The folder that it starts in, absolute. */
  cwd: string;
  /** The strictest of its findings; `'allow'` without any. */
  verdict: Verdict;
  /** Whether all of it could be judged. What cannot be (a NUL, a syntax error, a limit of the engine) has a finding `incomplete`. */
  complete: boolean;
  /** Whether all of it only reads. A program named by its path is not taken for the one it is called, and git may run code on a read: both are `'unknown'`. */
  readOnly: 'yes' | 'no' | 'unknown';
  /** What was found, the strictest first. */
  findings: Finding[];
  /** Every simple command in it, at whatever depth, in the order of the text. */
  commands: CommandUnit[];
}
/** Why a command is not simply run. */
interface Finding {
  /** The rule, in kebab-case; see `safetyRules()`. */
  ruleId: string;
  /** What it comes to. */
  level: Verdict;
  /** `'exact'`: the command does it if it runs at all. `'partial'`: if a guess is right. `'opaque'`: what would be run cannot be seen. Only an exact finding denies. */
  confidence: 'exact' | 'partial' | 'opaque';
  /** Where in the command: half-open, in UTF-16 units. Of code inside a word (`bash -c '…'`) it is that word. */
  span: [number, number];
  /** The words of the simple command that it is about, after expansion. */
  argv: string[];
  /** How that command is reached; see `CommandUnit.via`. */
  via: string[];
  /** What is wrong and what to do instead, one sentence. */
  message: string;
  /** A command to use instead, which the engine lets through; empty where there is none. */
  suggestion: string;
}
/** One simple command. */
interface CommandUnit {
  /** The name of the program without its folder; `null` when it is not known or there is none (only assignments or redirects). */
  name: string | null;
  /** The head as it is written, or `null` in the same cases. */
  path: string | null;
  /** Its words, the head first, without the wrappers in front. */
  argv: Word[];
  /** The words of wrappers that stand in front of it in the same command: `sudo`, `-u`, `root`. */
  prefix: string[];
  /** `NAME=value` in front of it. */
  assignments: string[];
  /** Its redirects, those of a group around it included. */
  redirects: CommandRedirect[];
  /** The folder that it runs in, absolute, after each `cd` before it; `null` when it is not known. */
  cwd: string | null;
  /** The chain of nesting that it came through, the outermost first: `sudo`, `bash -c`, `heredoc`, `xargs` …. Empty for a command that stands in the text itself. */
  via: string[];
  /** Where in the command, as in a `Finding`. */
  span: [number, number];
  /** As it is written. */
  source: string;
  /** It only runs other commands, all of which are listed: `bash -c '…'`, a function of the script. */
  wrapper: boolean;
}
/** One redirect. */
interface CommandRedirect {
  /** As it is written: `>`, `>>`, `<`, `<<`, `<<<`, `&>` …. */
  op: string;
  /** The descriptor, where one is written, else `null`. */
  fd: number | null;
  /** The file, descriptor, here-string or delimiter. */
  target: Word;
  /** The file, absolute; `null` when it is not known or none. */
  path: string | null;
}
/** A word after its expansion. */
interface Word {
  /** Its text; where it is not known, as it is written. */
  text: string;
  /** Whether `text` is what the program gets. */
  known: boolean;
}
/** What `decide` comes to. */
interface Decision {
  /** Whether the command may run, is to be asked about, or may not. */
  verdict: 'allow' | 'ask' | 'deny';
  /** What no allow rule matches: the text of each command, and `write:PATH` for each file that is written. Empty without an `allow` list. */
  unmatched: string[];
  /** Allow rules for what is unmatched, which would allow this command and others like it. Never for wrappers, interpreters, or what stands in a heredoc; none where the analysis itself asks. */
  suggestRules: string[];
}
/** One rule of the engine. */
interface SafetyRule {
  /** In kebab-case, stable. */
  id: string;
  /** What a finding of it comes to, unless `SafetyOptions.rules` says otherwise. */
  level: Verdict;
  /** What it stops, and why: one or two sentences. */
  doc: string;
  /** Commands that it finds something in. */
  matches: string[];
  /** Commands that look alike, in which it finds nothing. */
  passes: string[];
}
//#endregion
//#region ts/registry.d.ts
/**
 * Commands that run in the background: starts them, reads what they write, waits for them and ends them.
 *
 * With `dir`, tasks and their logs outlive this process, and any process that opens the same folder sees and ends them.
 * Without it they end with `close()` or with this process, however that comes about. A running task never keeps Node
 * alive; a call that has not settled does. A task is named by its id or its pid: `ERR_BASH_UNKNOWN_TASK` for one that
 * the registry does not have. After `close()` every call is answered with `ERR_BASH_CLOSED`.
 */
declare class BackgroundRegistry {
  #private;
  /**
   * Opens the folder, or makes it, and removes what is older than `retentionMs` in it.
   *
   * Throws a `BashError`: `ERR_BASH_INVALID_ARG` for options of a wrong type or out of range, or the reason why the
   * folder cannot be used. It is the only one of the asynchronous calls here that throws.
   */
  constructor(options?: BackgroundRegistryOptions);
  /**
   * Starts a command and resolves once its shell runs. Its limit is 24 h, unless `timeoutMs` is given. `signal` aborts
   * the start only, which then rejects with `ABORT_ERR`. `mode`, `onTimeout`, `registry`, `onOutput`, `onSnapshot`
   * and `onPrompt` have no effect here: `on('output')` hears a task. Rejects as `bash()` does, and with `ERR_BASH_TOO_MANY_TASKS` when
   * `maxTasks` run already.
   */
  start(command: string, options?: BashOptions): Promise<BackgroundTask>;
  /**
   * All tasks as they are now, those of other processes on the same folder too; ended ones until they are older than
   * `retentionMs`. Throws `ERR_BASH_CLOSED` after `close()`.
   */
  list(): BackgroundTask[];
  /**
   * What a task has written since the last check or wait of this registry, or from byte `cursor` of its log on, which
   * leaves the registry's own place as it is.
   */
  check(task: number | string, options?: {
    cursor?: number | undefined;
  }): Promise<BackgroundCheck>;
  /**
   * Resolves with what is new when the task has ended, when its unread output matches `pattern`, when `port` accepts a
   * connection on this machine, after `timeoutMs`, or when `signal` is aborted: whichever is first. `matched` tells
   * whether it was the pattern or the port. It reads from the registry's own place and moves it.
   */
  wait(task: number | string, options?: BackgroundWaitOptions): Promise<BackgroundCheck>;
  /**
   * Ends a task with all it started: SIGTERM, up to its grace, then SIGKILL. Resolves with the rest of its output once
   * nothing of it is left. One that has ended already is left alone and answered the same way.
   */
  kill(task: number | string): Promise<BackgroundCheck>;
  /** Ends all tasks that run, at once; rejects, after all were tried, when one could not be ended. */
  killAll(): Promise<BackgroundCheck[]>;
  /**
   * `'exit'`: a task has ended, or is lost. `'output'`: a task has written this text, in order; the next text of a task
   * comes after what the listeners returned has settled. A listener that throws or rejects disturbs neither the others
   * nor the process: its first failure is a warning of the process (`process.on('warning')`, code
   * `AGENT_BASH_LISTENER`), and it goes on being called. The same function counts once. Listeners do not keep Node alive.
   */
  on(event: 'exit', listener: (task: BackgroundTask) => void): void;
  on(event: 'output', listener: (task: BackgroundTask, text: string) => void): void;
  /** Takes a listener away; one that is not there is none the worse. */
  off(event: 'exit' | 'output', listener: (...args: never[]) => void): void;
  /** What went wrong with files of the folder, a line each: a damaged state file costs only its own task. */
  get notes(): string[];
  /**
   * Ends the tasks of a registry without `dir` and removes their files; lets go of those of one with `dir`, which go on.
   * May be called again, and resolves when that is done.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
/**
 * The registry of the user's own folder, `$XDG_STATE_HOME/agent-bash`, else `~/.local/state/agent-bash`, as `process.env`
 * has it at the call: one for each thread and folder, made at the first call and made again after it was closed. Its
 * tasks outlive this process; `npx agent-bash` shows them. Throws as the constructor does, and `ERR_BASH_UNSUPPORTED`
 * for a user without a home folder.
 */
declare function defaultRegistry(): BackgroundRegistry;
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
interface SafetyOptions {
  /** Rules by their id: turned off, or to another level. An id that there is not is `ERR_BASH_INVALID_ARG`. At `'deny'` only an exact finding denies; a less sure one asks. */
  rules?: Record<string, 'off' | 'warn' | 'ask' | 'deny'> | undefined;
  /** Programs of your own that run other commands, by name: `{ 'with-retries': 'exec-rest' }`. What they run is then judged too. */
  wrappers?: Record<string, WrapperKind> | undefined;
  /** What `bash()` does with a command that a person would be asked about: runs it with a note (`'allow'`, the default), or refuses it like a denied one (`'deny'`), for hosts that nobody watches. */
  onAsk?: 'allow' | 'deny' | undefined;
}
/** What `analyze` takes into account. */
interface AnalyzeOptions extends SafetyOptions {
  /** The folder that the command would start in; it need not exist. Relative ones are resolved against `process.cwd()`, which is the default. */
  cwd?: string | undefined;
  /** All variables that the command would see; `undefined` counts as not set. Default `process.env`. */
  env?: Record<string, string | undefined> | undefined;
  /** The home folder of the user. Default: `HOME` of `env`, else the one of the system. */
  home?: string | undefined;
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
/** How a `BackgroundRegistry` keeps its tasks. */
interface BackgroundRegistryOptions {
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
interface BackgroundWaitOptions {
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
type BashErrorCode = 'ERR_BASH_INVALID_ARG' | 'ERR_BASH_CWD_NOT_FOUND' | 'ERR_BASH_CWD_NOT_DIRECTORY' | 'ERR_BASH_SHELL_NOT_FOUND' | 'ERR_BASH_SPAWN' | 'ERR_BASH_BLOCKED' | 'ERR_BASH_UNKNOWN_TASK' | 'ERR_BASH_TOO_MANY_TASKS' | 'ERR_BASH_CLOSED' | 'ERR_BASH_UNSUPPORTED' /** Of `BackgroundRegistry.start`, which has no other way to say that its signal was aborted. */ | 'ABORT_ERR';
/** Nothing could be run, and nothing was started. A command that ran is never an error, whatever its exit code. */
declare class BashError extends Error {
  readonly name = "BashError";
  /** What was wrong, one of `BashErrorCode`. */
  readonly code: string;
  /** The system's error (`'EAGAIN'`), with `ERR_BASH_SPAWN` where there is one. */
  readonly errno?: string;
  /** Why the command was refused, with `ERR_BASH_BLOCKED`. */
  readonly findings?: Finding[];
  constructor(code: BashErrorCode | (string & {}), message: string, errno?: string, findings?: Finding[]);
}
//#endregion
//#region ts/observe/channels.d.ts
/** What a run is: a command of `bash()`, one of a session, one in a terminal, or a task in the background. */
type ObservedKind = 'command' | 'session' | 'terminal' | 'task';
/** What the events of one run share. */
interface Observed {
  /** Names the run in this process; of a task its id. */
  id: string;
  /** What it is. */
  kind: ObservedKind;
  /** Of its shell. */
  pid: number;
}
/** `agent-bash:start`: it runs. */
interface ObservedStart extends Observed {
  /** As it was given, without the prefix. */
  command: string;
  /** Its positional parameters, as `args` has given them; of a task none are told. */
  args: string[];
  /** The folder it runs in, absolute. */
  cwd: string;
}
/** `agent-bash:output`: it has written. */
interface ObservedOutput extends Observed {
  /** Of a terminal, and of a task, all is standard output. */
  stream: 'stdout' | 'stderr';
  /** Cleaned as its options say, at most 64 KiB. */
  text: string;
}
/** `agent-bash:kill`: its end was asked for. */
interface ObservedKill extends Observed {
  /** `'abort'`: its signal was aborted; `'timeout'`: it has reached its limit, told when it has ended; `'kill'`: `kill()` of a terminal or a registry; `'close'`: its session or registry was closed. */
  reason: 'abort' | 'timeout' | 'kill' | 'close';
  /** The one signal that `kill(signal)` of a terminal sends; `null` where the whole tree is ended. */
  signal: string | null;
}
/** `agent-bash:exit`: it has ended, or goes on as a task. */
interface ObservedExit extends Observed {
  /** As of a `BashResult`; of a task its state. */
  status: 'exited' | 'signaled' | 'timed-out' | 'aborted' | 'backgrounded' | 'killed' | 'lost';
  /** As in a `BashResult`; `null` with `'backgrounded'` and `'lost'`. */
  exitCode: number | null;
  /** What really ended its shell (`'SIGKILL'`), or `null`; of a task that was killed the strongest that was sent. */
  signal: string | null;
  /** From its start to its end, in ms. */
  durationMs: number;
  /** The limit that held, in ms; `null` of a task. */
  timeoutMs: number | null;
  /** The task that it is from now on, with `'backgrounded'`; else `null`. */
  taskId: string | null;
  /** What its processes used; `null` of a task. */
  usage: BashUsage | null;
  /** What it has left running; of a task nothing is known. */
  survivors: Survivor[];
  /** One fact a line; of a task none. */
  notes: string[];
}
/** `agent-bash:block`: the safety engine has refused it, and nothing was started. */
interface ObservedBlock {
  /** Names the call in this process. */
  id: string;
  /** What it would have been. */
  kind: ObservedKind;
  /** As it was given. */
  command: string;
  /** The folder it would have run in, absolute. */
  cwd: string;
  /** Why, as the error says it. */
  message: string;
  /** Where and what, as of the error. */
  findings: Finding[];
}
//#endregion
//#region ts/pty-listeners.d.ts
/** How the program of a terminal has ended: as in `BashResult`. */
interface PtyEnd {
  /** 0 … 255; 128 + n after signal n, 124 at the time limit, 130 after `kill()`. */
  exitCode: number | null;
  /** What really ended it (`'SIGKILL'`), or `null`. */
  signal: string | null;
}
type DataListener = (text: string) => unknown;
type EndListener = (end: PtyEnd) => unknown;
//#endregion
//#region ts/pty-options.d.ts
/** What a `PtySession` is made with. */
interface PtyOptions extends BashOptions {
  /** Characters a row: a whole number from 1 to 65,535, default 80. */
  cols?: number | undefined;
  /** Rows: a whole number from 1 to 65,535, default 24. */
  rows?: number | undefined;
}
/** What `PtySession.wait` waits for, beside the end of the program. */
interface PtyWaitOptions {
  /** How long at most, in ms, a whole number of at least 0. Default: no limit. */
  timeoutMs?: number | undefined;
  /** For this long, in ms, nothing was written: a whole number of at least 1, counted from the later of this call and the last output. */
  idleMs?: number | undefined;
  /** Text that the program writes, or has written since the start or the last match. A string is the source of a regular expression; of a `RegExp`, `g` and `y` have no meaning. */
  pattern?: string | RegExp | undefined;
}
//#endregion
//#region ts/pty.d.ts
/**
 * A command in a pseudo-terminal of its own: what an editor, a REPL or a menu wants. It sees what a person's terminal would be,
 * a controlling terminal with TERM=xterm-256color and without the defaults for unattended commands; all else is as with `bash()`:
 * safety, environment, limits, and that nothing is left behind. One terminal runs one command.
 *
 * It has no time limit unless `timeoutMs` is given. A command does not move to the background: at its limit it is ended, and
 * `registry`, `onTimeout`, `merge` and `warm` make no difference.
 */
declare class PtySession {
  #private;
  /**
   * `cols` and `rows` are whole numbers from 1 to 65,535, default 80 × 24; the screen is kept for at most 1,000 of each. The other
   * options are those of `bash()`; `stdin` (what a program reads is typed, see `write`), mode and onTimeout `'background'` are refused.
   *
   * Throws a `BashError`, `ERR_BASH_INVALID_ARG` for options that cannot be. Starts nothing.
   */
  constructor(options?: PtyOptions);
  /**
   * Starts the command, and resolves with the pid of its shell once that runs (0 where `signal` was aborted before: nothing is
   * started then). Events begin after that. Rejects as `bash()` does, and with `ERR_BASH_UNSUPPORTED` where the system has no
   * pseudo-terminal to give or `AGENT_BASH_NO_PTY=1` is set; it may be called again then. A second command is `ERR_BASH_INVALID_ARG`.
   */
  start(command: string): Promise<{
    pid: number;
  }>;
  /**
   * Types this, after what was typed before; `'\r'` is Enter, `'\x03'` Ctrl-C. Resolves when the terminal has taken all of it, however long: a program
   * that reads whole lines gets one over 4,000 bytes (1,000 on macOS) in parts, where the system would cut it. Rejects with
   * `ERR_BASH_INVALID_ARG` before the start and for what is neither text nor bytes, with `ERR_BASH_CLOSED` when the program has ended.
   */
  write(data: string | Uint8Array): Promise<void>;
  /** Gives the terminal another size, as in the constructor; the program is told (SIGWINCH). Throws `ERR_BASH_INVALID_ARG`. */
  resize(cols: number, rows: number): void;
  /** What a person would see now. After the end what was seen last, and before the start nothing. */
  screen(): TerminalScreen;
  /** What the program has asked of those who type for it: some keys have two forms. */
  modes(): TerminalModes;
  /**
   * `'data'`: all that the program writes, with its escape sequences, in whole characters and at most 64 KiB a call; the program is held back while a listener
   * works, until a promise that it returns has settled. Who listens may draw the terminal, and answer the questions of the program (DSR, DA); what is not answered within 250 ms is answered
   * here, as it is at once where nobody listens. `'exit'`: once, after all data. A listener that throws is told of by a process warning.
   */
  on(event: 'data', listener: DataListener): void;
  on(event: 'exit', listener: EndListener): void;
  /** Takes a listener away. */
  off(event: 'data' | 'exit', listener: (...args: never[]) => void): void;
  /**
   * Waits for the program to end, or for what comes first: `pattern` in the text since the start or the last match (without escape sequences, lines ended by `\n`, the last
   * 1 MiB of it), no output for `idleMs` (from this call on), `timeoutMs`. The exit code is as in `BashResult`, `null` while the program runs.
   * Rejects with `ERR_BASH_INVALID_ARG` before the start, and for a pattern that the engine cannot do.
   */
  wait(options?: PtyWaitOptions): Promise<TerminalWaited>;
  /**
   * Without `signal`: ends the program and all that it has started (SIGHUP, SIGTERM, `graceMs`, SIGKILL) and resolves when they have ended; the result
   * is that of an abort. With it (`'SIGINT'`): sends just that, to the processes that keys go to and to the shell's group. Does nothing before the
   * start and after the end. A name that is none is `ERR_BASH_INVALID_ARG`.
   */
  kill(signal?: string): Promise<void>;
  /** What came of it, at its end: as of `bash()`, with all that was written in `stdout`, lines ended by `\n`. Rejects with `ERR_BASH_INVALID_ARG` before the start. */
  result(): Promise<BashResult>;
  /** Lets Node exit while the program runs, which ends it (SIGHUP); a pending `wait` or `write` still holds it. Without a program it does nothing. */
  unref(): void;
  /** Undoes `unref()`: Node stays alive for the program, as it does by default. */
  ref(): void;
  /** The same as `kill()`. */
  [Symbol.asyncDispose](): Promise<void>;
}
//#endregion
//#region ts/safety.d.ts
/**
 * Says what a command would do, without running anything: every simple command in it, at whatever depth, with its words after
 * expansion, its redirects and its folder, and what the rules find in it. It reads no file and starts nothing, takes
 * microseconds, and comes to an end for every text: what it cannot judge has `complete: false` and a verdict of at least `'ask'`.
 *
 * A guard against mistakes, not a boundary against malice: see docs/safety.md.
 *
 * @param command any string; a syntax error or a NUL is a finding.
 * @param options see `AnalyzeOptions`; all may be left out. `onAsk` has no effect here.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for wrong types and for a rule, level or kind of wrapper that there is not.
 */
declare function analyze(command: string, options?: AnalyzeOptions): Analysis;
/**
 * Decides on an analysis by rules of your own, the strictest first: `'deny'`, if the analysis denies or a deny rule matches any
 * command in it, wrapped or not; `'ask'`, if the analysis asks or an ask rule matches; else `'allow'`, if all of it could be
 * judged and each command and each file that is written matches an allow rule; else `'ask'`. Without `allow` the analysis alone
 * decides whether it is `'allow'`.
 *
 * A rule is the words of a command (`'npm run build'`: exactly these), its first words (`'git log:*'`), or files that are
 * written (`'write:src/**'`, relative to the folder of the analysis). Deny and ask rules ignore the folder in a program's name and
 * the global options of git. An allow rule does not look through `sudo`, `su` or `ssh`.
 *
 * @param analysis from `analyze`; may have been through JSON.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for wrong types and for a rule that can match nothing.
 */
declare function decide(analysis: Analysis, rules?: {
  allow?: string[] | undefined;
  ask?: string[] | undefined;
  deny?: string[] | undefined;
}): Decision;
/** All rules of the engine, as docs/safety.md lists them: a new array each time. */
declare function safetyRules(): SafetyRule[];
//#endregion
//#region ts/session.d.ts
/** What a command of a session resolves to. */
type SessionResult = BashResult & {
  /** The folder that the session is in now. */cwd: string;
};
/**
 * A shell that remembers: the folder, variables, arrays, functions, aliases, options and traps that a command leaves are
 * there for the next one. Each command still has a fresh shell, so that none can break the session: `exit`, `exec`, a signal,
 * a syntax error, a limit or an abort end that command alone, and the state stays that of the last command that ended by
 * itself, whatever its exit code. Jobs, `$!` and EXIT traps do not carry over.
 *
 * Commands run one after another in the order of the calls. The environment that a session begins with is that of its
 * construction. State is kept in this process, and nobody else's.
 */
declare class BashSession {
  #private;
  /**
   * `options` are those of each command; `cwd` is the folder that the session begins in. Starts nothing.
   *
   * Throws a `BashError`, `ERR_BASH_INVALID_ARG` for options of a wrong type: it is the only call here that throws.
   */
  constructor(options?: BashOptions);
  /** What it was made with: a copy. */
  get options(): Readonly<BashOptions>;
  /** The folder that the next command starts in, absolute, as its shell calls it (links are not followed). */
  get cwd(): string;
  /**
   * Runs a command when those before it have ended; resolves and rejects as `bash()` does, and with `ERR_BASH_CLOSED` after
   * `close()`. `options` lie over those of the session, `undefined` counting as left out; of them `cwd` is where this command starts (relative ones begin at
   * the session's folder), and `env` holds for this command alone. What goes to the background takes its state from the
   * session and leaves none. Where the folder is gone the command runs in the session's first one, with a note.
   */
  run(command: string, options?: BashOptions): Promise<SessionResult>;
  /** Forgets everything: the next command starts as the first one did, in the first folder. Waits for its turn as a command does. */
  reset(): Promise<void>;
  /** Ends what still runs in it, as an abort does, and forgets everything. Commands that wait for their turn reject with `ERR_BASH_CLOSED`. May be called again. */
  close(): Promise<void>;
  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void>;
}
//#endregion
//#region ts/shells.d.ts
/**
 * Has a shell wait for the first command with these options, so that it need not start one either; later ones have theirs
 * by themselves. Of the options count `cwd`, `env`, `inheritEnv`, `shell`, `merge`, `limits`, and whether there is a `stdin`.
 *
 * Resolves with true once a shell waits, and with false where none can, so that commands with these options start cold:
 * `warm: false`, AGENT_BASH_WARM=0, another shell than bash, `args`, a BASH_ENV or POSIXLY_CORRECT in the environment,
 * macOS, a system that lets no process write to its child. Rejects as `bash()` does where nothing could be run.
 */
declare function warmUp(options?: BashOptions): Promise<boolean>;
/** Tells how many shells wait for a command in this process, and how many commands had one. Starts nothing. */
declare function warmShells(): WarmShells;
//#endregion
//#region ts/index.d.ts
/**
 * Runs a command in a fresh, non-login bash and resolves when it has ended, with all that it wrote.
 *
 * A command that ran is never an error, whatever its exit code, and neither is a time limit or an abort. The promise
 * rejects with a `BashError` only when nothing could be run: `ERR_BASH_INVALID_ARG`, `ERR_BASH_CWD_NOT_FOUND`,
 * `ERR_BASH_CWD_NOT_DIRECTORY`, `ERR_BASH_SHELL_NOT_FOUND`, `ERR_BASH_SPAWN`, `ERR_BASH_UNSUPPORTED`, and
 * `ERR_BASH_BLOCKED`, with `findings`, when the safety engine denies it; with background tasks also `ERR_BASH_TOO_MANY_TASKS`
 * and `ERR_BASH_CLOSED`. It never throws synchronously and always settles.
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
export { type Analysis, type AnalyzeOptions, type BackgroundCheck, BackgroundRegistry, type BackgroundRegistryOptions, type BackgroundTask, type BackgroundWaitOptions, BashError, type BashErrorCode, type BashLimits, type BashOptions, type BashPrompt, type BashResult, BashSession, type BashSnapshot, type BashTruncation, type BashUsage, type CommandRedirect, type CommandUnit, type Decision, type Finding, type Observed, type ObservedBlock, type ObservedExit, type ObservedKill, type ObservedKind, type ObservedOutput, type ObservedStart, type OutputChunk, type PtyEnd, type PtyOptions, PtySession, type PtyWaitOptions, type SafetyOptions, type SafetyRule, type SanitizeOptions, type SessionResult, type SpillOptions, type Survivor, TRUNCATE, type TerminalCursor, type TerminalModes, type TerminalScreen, type TerminalWaited, type Truncate, type Truncation, type Verdict, type WarmShells, type Word, type WrapperKind, analyze, bash, decide, defaultRegistry, safetyRules, warmShells, warmUp };
