import type { Fleet } from '../fleet/types.ts';
import type { Target } from '../target/types.ts';

/** Options of `undo`. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
export interface UndoRunOptions {
  /**
   * The machine on which the run ran, or a pool, whose connected places are searched for the run. Relative paths begin
   * in its directory.
   *
   * @default this machine
   * @example await undo(runId, { target });
   */
  target?: Target | Fleet | undefined;
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
   * The machine of the runs, or a pool, for those of all its connected places. Relative paths begin in its directory.
   *
   * @default this machine
   * @example const points = await undoPoints({ target });
   */
  target?: Target | Fleet | undefined;
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
