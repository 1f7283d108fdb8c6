import type { Undone, UndoPoint } from '../../native.cjs';
import { resolve } from '../core/builtins.ts';
import { settled } from '../core/calls.ts';
import { channels, type ObservedUndo } from '../observe/channels.ts';
import { ownEnvironment } from '../request.ts';
import { checkUndo, checkUndoPoints } from './options.ts';
import type { UndoPointsOptions, UndoRunOptions } from './types.ts';

/** Undoes a run; see `undo` of the main entry. */
export async function undoRun(runId: string, options: UndoRunOptions = {}): Promise<Undone> {
  checkUndo(runId, options);
  const { dryRun = false, paths, dir } = options;
  const wanted = {
    dryRun,
    ...(paths && { paths: paths.map((path) => resolve(path)) }),
    ...(dir !== undefined && { dir: resolve(dir) }),
  };
  const undone = await settled({
    begin: (way) => way.undo(runId, ownEnvironment(), wanted),
    kind: 'undone',
    answer: (event) => event.undone,
  });
  // A copy: the caller may change its result.
  if (!dryRun && channels.undo.hasSubscribers) channels.undo.publish(structuredClone(undone) satisfies ObservedUndo);
  return undone;
}

/** Lists the runs that can be undone; see `undoPoints` of the main entry. */
export async function listUndoPoints(options: UndoPointsOptions = {}): Promise<UndoPoint[]> {
  checkUndoPoints(options);
  const { cwd, dir } = options;
  const absolute = (path: string | undefined) => (path === undefined ? null : resolve(path));
  return settled({
    begin: (way) => way.undoPoints(absolute(cwd), absolute(dir), ownEnvironment()),
    kind: 'undoPoints',
    answer: (event) => event.points,
  });
}
