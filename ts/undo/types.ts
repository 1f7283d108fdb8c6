import type { Target } from '../target/types.ts';

/** When the files that a command changes are kept for an undo, and how much is kept. */
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
   * The largest file that is copied before it is written to, in bytes, a whole number of at least 1. A file that is
   * only removed or replaced needs no copy, and may be larger.
   *
   * @default 67_108_864 (64 MiB)
   * @example await bash('sed -i s/a/b/ big.csv', { undo: { maxFileBytes: 1024 ** 3 } });
   */
  maxFileBytes?: number | undefined;
  /**
   * The most that is kept for one run, in bytes, a whole number of at least 1.
   *
   * @default 1_073_741_824 (1 GiB)
   * @example await bash('npm run format', { undo: { when: 'always', maxBytes: 100 * 1024 ** 2 } });
   */
  maxBytes?: number | undefined;
  /**
   * The most that the store may take of the disk, in bytes, a whole number of at least 1. Files count in whole blocks,
   * with their inodes. Before and after a command, the oldest runs that exceed this size are removed; see `undoPoints`.
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

/** Options of `undo`. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
export interface UndoRunOptions {
  /**
   * The machine on which the run ran. Relative paths begin in its directory.
   *
   * @default this machine
   * @example await undo(runId, { target });
   */
  target?: Target | undefined;
  /**
   * Whether the undo only reports its effect and changes nothing.
   *
   * @default false
   * @example const { conflicts } = await undo(runId, { dryRun: true });
   */
  dryRun?: boolean | undefined;
  /**
   * Only these paths and, for directories, everything below. Relative paths are resolved against `process.cwd()`.
   *
   * @default everything that the run changed
   * @example await undo(runId, { paths: ['src'] });
   */
  paths?: string[] | undefined;
  /**
   * The directory of the store, as in `UndoOptions`.
   *
   * @default the user's own
   * @example await undo(runId, { dir: '/srv/agent/undo' });
   */
  dir?: string | undefined;
}

/** Options of `undoPoints`. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
export interface UndoPointsOptions {
  /**
   * The machine of the runs. Relative paths begin in its directory.
   *
   * @default this machine
   * @example const points = await undoPoints({ target });
   */
  target?: Target | undefined;
  /**
   * Only runs that started in this directory or below. A relative path is resolved against `process.cwd()`.
   *
   * @default every run of the store
   * @example const points = await undoPoints({ cwd: '/srv/project' });
   */
  cwd?: string | undefined;
  /**
   * The directory of the store, as in `UndoOptions`.
   *
   * @default the user's own
   * @example const points = await undoPoints({ dir: '/srv/agent/undo' });
   */
  dir?: string | undefined;
}
