import type { BashPrompt, BashSnapshot, OutputChunk } from '../native.cjs';
import type { ConfineSetting } from './confine/types.ts';
import type { Actor } from './ledger/types.ts';
import type { SanitizeOptions, SpillOptions, Truncate } from './output.ts';
import type { ReduceOptions } from './reduce/types.ts';
import type { TaskRegistry } from './registry/types.ts';
import type { SafetyOptions } from './safety/types.ts';
import type { Target } from './target/types.ts';
import type { UndoOptions } from './undo/types.ts';

/**
 * Options of a command. Every option may be left out, and `undefined` counts as left out. An option that does not
 * exist is `ERR_BASH_INVALID_ARG`.
 */
export interface CommandOptions<Registry extends TaskRegistry = TaskRegistry> {
  /**
   * Positional parameters of the command, `$1` and on.
   *
   * @default []
   * @example await bash('printf "%s\n" "$1"', { args: ["it's data"] });
   */
  args?: string[] | undefined;
  /**
   * The machine that runs the command, from `connect`. Paths, pids and users are the target's, and relative paths begin
   * in its directory. The login environment there takes the place of `process.env`.
   *
   * @default this machine
   * @example await bash('make', { target: await connect({ ssh: 'build1' }) });
   */
  target?: Target | undefined;
  /**
   * The directory in which the command starts. A relative path is resolved against `process.cwd()`. It must exist
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
   * The longest time without output, in ms, a whole number from 1 to 86,400,000. A command that is silent for this long
   * is at its time limit, and a note reports this. The time counts from the start and from each output on either
   * stream. Any byte is output, also a carriage return or an escape sequence that `sanitize` removes. A task that was
   * started in the background is ended. A command that has moved to the background may be silent. The limit never
   * counts in a terminal.
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
  registry?: Registry | undefined;
  /**
   * How the command is judged before anything starts. `'default'` applies the unchanged rules. `'off'` judges nothing,
   * for hosts that judge elsewhere. An object lists the differences from the default. A denied command is
   * `ERR_BASH_BLOCKED`.
   *
   * @default 'default'
   * @example await bash('git clean -fd', { safety: { onAsk: 'deny' } });
   */
  safety?: 'default' | 'off' | SafetyOptions | undefined;
  /**
   * The shell: a path, or a name on the PATH of `process.env`. A missing shell is `ERR_BASH_SHELL_NOT_FOUND`.
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
   * Whether a shell that has already started may run the command if no command could tell the difference.
   * `AGENT_BASH_WARM=0` in the host's environment turns this off.
   *
   * @default true
   * @example await bash('true', { warm: false });
   */
  warm?: boolean | undefined;
  /**
   * Limits in addition to the time limit. A note names a limit that was exceeded.
   *
   * @default none
   * @example await bash('npm test', { limits: { memoryBytes: 2 * 1024 ** 3, cpuSeconds: 600 } });
   */
  limits?: BashLimits | undefined;
  /**
   * The reach of the command, whatever its text: which files it can read and change, which hosts it can reach, which
   * processes it can see. `'workspace'` lets it change files below `cwd` alone, with no network and no secrets of the
   * home. `'read-only'` lets it change no files at all. An object sets details. `'off'` confines nothing.
   *
   * Commands with equal confinement share a world: its loopback, its private `/tmp`, its processes. The commands of one
   * tool, session or registry share worlds, and so do plain calls of `bash()`. A confinement that this machine cannot
   * hold is `ERR_BASH_CONFINEMENT`, with `missing`, and nothing is started. `result.confinement` lists the parts that
   * were held and the denials.
   *
   * @default 'off'
   * @example await bash('npm test', { confine: 'workspace' });
   */
  confine?: ConfineSetting | undefined;
  /**
   * Whether `result.receipt` lists the command's changes: files, directories, ports and git repositories.
   *
   * `'watch'` does not affect the command: this process follows the directories of the repository of `cwd` (or of
   * `cwd`). It does not see other places, and lists what changed while the command ran. `'exact'` records every change
   * of the command's own processes, wherever it is, before it happens. The command then runs without new privileges. A
   * command that calls `sudo` gets `'watch'` instead, with a note, and so does every command on macOS.
   *
   * A command that starts a background task has its receipt in `BackgroundCheck`.
   *
   * @default 'off'
   * @example const { receipt } = await bash('npm test', { receipt: 'watch' });
   */
  receipt?: 'off' | 'watch' | 'exact' | undefined;
  /**
   * Whether the files that the command changes are kept, so that `undo(result.runId)` can take the changes back.
   * `'risky'` keeps the files of commands whose verdict is warn or ask, and of commands that are known to delete files
   * or to overwrite what exists. `'always'` keeps the files of each command. Such a command has a receipt, `'exact'`.
   *
   * `result.undo` says whether the undo covers all files. No undo is kept for a command in `/` or in the home directory
   * itself. An object sets details, and with `require` refuses a command whose undo would not cover everything:
   * `ERR_BASH_UNDO`.
   *
   * @default 'off'
   * @example const { runId } = await bash('git clean -fd', { undo: 'risky' });
   */
  undo?: 'off' | 'risky' | 'always' | UndoOptions | undefined;
  /**
   * Whether `result.evidence` has the end of each part of the command, and the failures that its exit code hides, as
   * that of `npm test | tail -5` hides failing tests. The command is not changed. `'status'` watches the command's
   * shell. `'tree'` also watches the tree of `cwd`, up to the top of its repository, and says what changed since a
   * check passed.
   *
   * A command in the background has its evidence in `BackgroundCheck`, once it has ended.
   *
   * @default 'off'; 'status' for the tools for models and MCP
   * @example const { evidence } = await bash('npm test 2>&1 | tail -5', { evidence: 'status' });
   */
  evidence?: 'off' | 'status' | 'tree' | undefined;
  /**
   * Whether the whole output of a pipeline's first program is kept, as that of `npm test` in `npm test | tail -5`:
   * `result.evidence.tap` says where. The command is not changed: what the program writes flows through this process.
   * It needs `evidence`, a pipeline that is the whole command, alone or behind `cd X &&`, and as its first element one
   * simple command that is worth it: no `cat`, `grep` or `git log`.
   *
   * At most `spill.maxBytes` are kept, and no more than the store of outputs holds, until it needs the room or this
   * process ends. `evidence.tests` counts the tests in the whole output. Commands in a terminal and in the background
   * have no tap.
   *
   * @default 'off'; 'on' for `createBashTool` and MCP, unless they have `onAfterRun`, which does not see what is kept
   * @example const { evidence } = await bash('npm test | tail -5', { evidence: 'status', taps: 'on' });
   */
  taps?: 'off' | 'on' | undefined;
  /**
   * Rules that name more commands that are checks, as `allow` of `decide` has them: `'./ci.sh'` names this command
   * without other words, `'task verify:*'` all that begin with these words. Known test runners, linters, type checkers
   * and builds are checks anyway. Their runs are in `evidence.checks` and `listChecks`. A rule that names no command is
   * `ERR_BASH_INVALID_ARG`.
   *
   * @default []
   * @example await bash('./ci.sh', { evidence: 'status', checks: ['./ci.sh'] });
   */
  checks?: string[] | undefined;
  /**
   * Whether a stored result may be given in place of a run: that of the same command in this process, if nothing that
   * it depends on is known to have changed since. `result.reused` labels it. The command runs if in doubt, and with
   * `fresh`. With `taps` the output that a program wrote also goes through other filters: after `npm test | tail`, that
   * of `npm test | grep FAIL`. An object sets details. It implies `evidence: 'tree'`.
   *
   * Commands that only read may be given again, those that `commands` names, and those whose confinement reaches no
   * host and writes inside of the tree only. A command in a terminal or in the background always runs, and so does one
   * whose streams an adapter reads and writes while it runs.
   *
   * @default 'off'
   * @example await bash('npm test', { reuse: { commands: ['npm test:*'] } });
   */
  reuse?: 'off' | 'verified' | ReuseOptions | undefined;
  /**
   * Whether the command runs whatever `reuse` has stored. Its result may be given again later.
   *
   * @default false
   * @example await bash('npm test', { reuse: { commands: ['npm test:*'] }, fresh: true });
   */
  fresh?: boolean | undefined;
  /**
   * The absolute paths of files that the model has read. `result.stale` lists those that the command changed, by its
   * receipt, and a model reads `[changed since you read it: src/a.ts]`. A set may grow meanwhile, and a function is
   * called after each run whose receipt has changes. If it throws, that is a note.
   *
   * The option asks for no receipt by itself: without `receipt` or `undo` the list is empty.
   *
   * @default none
   * @example await bash('npx biome check --write', { receipt: 'watch', knownFiles: filesThatWereRead });
   */
  knownFiles?: Iterable<string> | (() => Iterable<string>) | undefined;
  /**
   * Whether `result.view` has the text that a model reads in place of `stdout` and `stderr`, which stay unchanged.
   * `'lossless'` folds repeats. `'salient'` also leaves out the lines that tell least: a marker replaces them, and the
   * whole output is first written to a file, which is removed with this process. No failure is left out. An object sets
   * details.
   *
   * A command in a terminal or in the background has no view. If a confined command could not read the file, nothing
   * is left out.
   *
   * @default 'off'
   * @example const { view, stdout } = await bash('npm test', { reduce: 'salient' });
   */
  reduce?: 'off' | 'lossless' | 'salient' | ReduceOptions | undefined;
  /**
   * Whether the command has an entry in the ledger, the record on disk that `readLedger` and `agent-bash log` read. If
   * this option is left out, `AGENT_BASH_LEDGER`, `on` or `off`, decides. Secrets are taken out of the command. A
   * ledger that cannot be written costs the entry and never the command, and is a note once per process.
   *
   * @default false; true for the tools for models, MCP and `agent-bash run`
   * @example await bash('npm publish', { ledger: true });
   */
  ledger?: boolean | undefined;
  /**
   * The parties that ask for the command, for the ledger and for subscribers.
   *
   * @default none
   * @example await bash('npm test', { ledger: true, actor: { agent: 'reviewer', user: 'ada' } });
   */
  actor?: Actor | undefined;
}

/**
 * Options with which a command cannot go to the background and cannot be lost, so that its result has an exit code.
 */
export type ForegroundOptions = {
  [Name in keyof CommandOptions]: Name extends 'registry' | 'target'
    ? undefined
    : Exclude<CommandOptions[Name], 'background'>;
};

/** Options of the re-use of results. */
export interface ReuseOptions {
  /**
   * Rules that name commands whose results depend on nothing but their tree, as `checks` has them: the host vouches for
   * it. A command with a redirect into a file is not named by them.
   *
   * @default []
   * @example await bash('npm test', { reuse: { commands: ['npm test:*', './ci.sh'] } });
   */
  commands?: string[] | undefined;
  /**
   * The highest age of a result, in ms, a whole number of at least 1.
   *
   * @default 3_600_000 (1 h)
   * @example await bash('npm test', { reuse: { commands: ['npm test:*'], maxAgeMs: 600_000 } });
   */
  maxAgeMs?: number | undefined;
  /**
   * The most bytes of all stored outputs, a whole number of at least 1; the oldest go first. An output of more than a
   * quarter of it is not stored. Most of it lies in files without names, which end with the process.
   *
   * @default 268_435_456 (256 MiB)
   * @example await bash('npm test', { reuse: { commands: ['npm test:*'], storeBytes: 16_777_216 } });
   */
  storeBytes?: number | undefined;
}

/** Limits of a command in addition to its time limit. No limit can raise a limit of the system. */
export interface BashLimits {
  /**
   * CPU time in seconds that all processes of the command may use together, a number above 0. Above the limit the tree
   * is ended: SIGTERM, `graceMs`, SIGKILL.
   *
   * @default none
   * @example await bash('npm test', { limits: { cpuSeconds: 0.5 } });
   */
  cpuSeconds?: number | undefined;
  /**
   * Memory in bytes that all processes of the command may hold together, shared memory counted once: a whole number of
   * at least 1. Above the limit the tree is ended at once by SIGKILL.
   *
   * @default none
   * @example await bash('npm test', { limits: { memoryBytes: 2 * 1024 ** 3 } });
   */
  memoryBytes?: number | undefined;
  /**
   * How many processes the command may have at once, its shell included: a whole number of at least 1. Above the limit
   * the tree is ended at once by SIGKILL.
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
