import type { BashPrompt, BashSnapshot, OutputChunk } from '../native.cjs';
import type { ConfineSetting } from './confine/types.ts';
import type { DraftHandle } from './draft/types.ts';
import type { Fleet } from './fleet/types.ts';
import type { ReduceOptions } from './reduce/types.ts';
import type { TaskRegistry } from './registry/types.ts';
import type { SafetyOptions } from './safety/types.ts';
import type { NativeOptions } from './schema/types.ts';
import type { Target } from './target/types.ts';

/**
 * Options of a command. Every option may be left out, and `undefined` counts as left out. An option that does not
 * exist is `ERR_BASH_INVALID_ARG`.
 */
export interface CommandOptions<Registry extends TaskRegistry = TaskRegistry> extends NativeOptions {
  /**
   * The machine that runs the command, from `connect`, or a `TargetPool`, which chooses one. Paths, pids and users are
   * the target's, and relative paths begin in its directory. The login environment there takes the place of
   * `process.env`.
   *
   * @default this machine
   * @example await bash('make', { target: await connect({ ssh: 'build1' }) });
   */
  target?: Target | Fleet | undefined;
  /**
   * With a pool: calls with the same text run on the same place, where their files are. If that place is lost, the next
   * call rejects with `ERR_BASH_TARGET`, `lost`, once, unless a run of the affinity was lost with it.
   *
   * @default any place
   * @example await bash('make', { target: pool, affinity: 'chat-7' });
   */
  affinity?: string | undefined;
  /**
   * The draft in which the command runs, from `openDraft`: it sees the root of the draft at its own path, and what it
   * changes there is kept apart. `cwd` is the root unless `process.cwd()` lies below it. The draft has its own
   * confinement, so `confine`, `undo` and `target` beside it are `ERR_BASH_INVALID_ARG`. `reuse` and `evidence: 'tree'`
   * are `ERR_BASH_UNSUPPORTED`. A draft that is over is `ERR_BASH_DRAFT`.
   *
   * @default none
   * @example await bash('npm test', { draft: await openDraft() });
   */
  draft?: DraftHandle | undefined;
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
   * Words before the command. The shell runs `<prefix> <command>`, with one blank between, and that text is judged. The
   * prefix applies to the first line of a command alone.
   *
   * @default none
   * @example await bash('npm test', { prefix: 'nice -n 10' });
   */
  prefix?: string | undefined;
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
}

/** Options of a command whose machine is chosen. */
export type PlacedOptions = Omit<CommandOptions, 'target'> & Partial<Record<'target', Target | undefined>>;

/**
 * Options with which a command cannot go to the background and cannot be lost, so that its result has an exit code.
 */
export type ForegroundOptions = {
  [Name in keyof CommandOptions]: Name extends 'registry' | 'target'
    ? undefined
    : Exclude<CommandOptions[Name], 'background'>;
};
