// Made from crates/runner/src/request/raw_options.rs by scripts/options.mjs: `npm run options`.
import type { Actor } from '../ledger/types.ts';
import type { Truncate } from '../output.ts';

/** Options that cross to the addon as they are. */
export interface NativeOptions {
  /**
   * Positional parameters of the command, `$1` and on.
   *
   * @default []
   * @example await bash('printf "%s\n" "$1"', { args: ["it's data"] });
   */
  args?: string[] | undefined;
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
   * The time limit in ms, counted from the start of the process. It replaces the limit of `mode`. A whole number from 1
   * to 86,400,000.
   *
   * @default the limit of `mode`
   * @example await bash('npm ci', { timeoutMs: 300_000 });
   */
  timeoutMs?: number | undefined;
  /**
   * The longest time without output, in ms. A command that is silent for this long is at its time limit, and a note
   * reports this. The time counts from the start and from each output on either stream. Any byte is output, also a
   * carriage return or an escape sequence that `sanitize` removes. A task that was started in the background is ended.
   * A command that has moved to the background may be silent. The limit never counts in a terminal. A whole number from
   * 1 to 86,400,000.
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
   * Time from SIGTERM to SIGKILL, in ms, when the tree is ended. A whole number from 0 to 15,000.
   *
   * @default 2_000
   * @example await bash('./server', { timeoutMs: 5_000, graceMs: 10_000 });
   */
  graceMs?: number | undefined;
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
   * Whether escape sequences and control characters are removed and progress lines collapse. `true` is `{ ansi: true,
   * progress: 'collapse' }`.
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
   * Time between two calls of `onSnapshot`, in ms. A whole number from 10 to 60,000.
   *
   * @default 250
   * @example await bash('npm test', { onSnapshot: draw, snapshotIntervalMs: 1_000 });
   */
  snapshotIntervalMs?: number | undefined;
  /**
   * The shell: a path, or a name on the PATH of `process.env`. A missing shell is `ERR_BASH_SHELL_NOT_FOUND`.
   *
   * @default 'bash'
   * @example await bash('print -r -- $ZSH_VERSION', { shell: 'zsh' });
   */
  shell?: string | undefined;
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
   * @default 'off'; 'on' for `createBashTool` and MCP, unless they have `onAfterRun`, which does not see what is
   * kept
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
   * Memory in bytes that all processes of the command may hold together, shared memory counted once. Above the limit
   * the tree is ended at once by SIGKILL. A whole number of at least 65,536.
   *
   * @default none
   * @example await bash('npm test', { limits: { memoryBytes: 2 * 1024 ** 3 } });
   */
  memoryBytes?: number | undefined;
  /**
   * How many processes the command may have at once, its shell included. Above the limit the tree is ended at once by
   * SIGKILL. A whole number of at least 1.
   *
   * @default none
   * @example await bash('make -j', { limits: { processes: 64 } });
   */
  processes?: number | undefined;
  /**
   * How many files each process may have open, standard streams included. The system refuses more (EMFILE). A whole
   * number of at least 1.
   *
   * @default none
   * @example await bash('./server', { limits: { openFiles: 256 } });
   */
  openFiles?: number | undefined;
  /**
   * How large in bytes a file may become by a write of the command. The system refuses more (SIGXFSZ, EFBIG). A whole
   * number of at least 1.
   *
   * @default none
   * @example await bash('./export', { limits: { fileBytes: 100 * 1024 ** 2 } });
   */
  fileBytes?: number | undefined;
}

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
   * The highest age of a result, in ms. A whole number of at least 1.
   *
   * @default 3_600_000 (1 h)
   * @example await bash('npm test', { reuse: { commands: ['npm test:*'], maxAgeMs: 600_000 } });
   */
  maxAgeMs?: number | undefined;
  /**
   * The most bytes of all stored outputs; the oldest go first. An output of more than a quarter of it is not stored.
   * Most of it lies in files without names, which end with the process. A whole number of at least 1.
   *
   * @default 268_435_456 (256 MiB)
   * @example await bash('npm test', { reuse: { commands: ['npm test:*'], storeBytes: 16_777_216 } });
   */
  storeBytes?: number | undefined;
}

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
   * The most that a file may hold, in bytes. The file of a longer stream keeps the beginning. A whole number of at
   * least 1.
   *
   * @default 1_073_741_824 (1 GiB)
   * @example await bash('npm test', { spill: { maxBytes: 10 * 1024 ** 2 } });
   */
  maxBytes?: number | undefined;
  /**
   * Age in ms from which files of this package are removed when a new one is written. A whole number of at least 0.
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

/** `undo`, as given. */
export interface UndoOptions {
  /**
   * The commands that can be undone. `'always'`: all commands. `'risky'`: commands whose verdict is warn or ask, and
   * commands that are known to delete files or to overwrite what exists (`rm`, `mv`, `sed -i`, `git checkout` …).
   *
   * @default 'risky'
   * @example await bash('make clean', { undo: { when: 'always' } });
   */
  when?: 'risky' | 'always' | undefined;
  /**
   * Whether a command whose undo would not cover all files is refused with `ERR_BASH_UNDO`. A file that turns out too
   * large while the command runs then fails to change (EDQUOT). Without it the command runs, and a note reports this.
   *
   * @default false
   * @example await bash('rm -rf build', { undo: { require: true } });
   */
  require?: boolean | undefined;
  /**
   * The largest file that is copied before it is written to, in bytes. A file that is only removed or replaced needs no
   * copy, and may be larger. A whole number of at least 1.
   *
   * @default 67_108_864 (64 MiB)
   * @example await bash('sed -i s/a/b/ big.csv', { undo: { maxFileBytes: 1024 ** 3 } });
   */
  maxFileBytes?: number | undefined;
  /**
   * The most that is kept for one run, in bytes. A whole number of at least 1.
   *
   * @default 1_073_741_824 (1 GiB)
   * @example await bash('npm run format', { undo: { when: 'always', maxBytes: 100 * 1024 ** 2 } });
   */
  maxBytes?: number | undefined;
  /**
   * The most that the store may take of the disk, in bytes. Files count in whole blocks, with their inodes. Before and
   * after a command, the oldest runs that exceed this size are removed; see `undoPoints`. A whole number of at least 1.
   *
   * @default 2_147_483_648 (2 GiB)
   * @example await bash('git clean -fd', { undo: { storeBytes: 500 * 1024 ** 2 } });
   */
  storeBytes?: number | undefined;
  /**
   * The directory of the store, made with mode 0700 if it is missing. An existing directory must be empty or a store. A
   * relative path is resolved against `process.cwd()`. `undo` and `undoPoints` need the same `dir`.
   *
   * @default `$XDG_STATE_HOME/agent-bash/undo`, else `~/.local/state/agent-bash/undo`
   * @example await bash('rm notes.txt', { undo: { dir: '/srv/agent/undo' } });
   */
  dir?: string | undefined;
}
