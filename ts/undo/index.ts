import type { Undone, UndoPoint } from '../../native.cjs';
import { settled } from '../core/calls.ts';
import { BashError } from '../errors.ts';
import { poolOf } from '../fleet/handle.ts';
import { channels, type ObservedUndo } from '../observe/channels.ts';
import { ownEnvironment } from '../request.ts';
import { pathOn, thereOf } from '../target/handle.ts';
import type { Target } from '../target/types.ts';
import { checkUndo, checkUndoPoints } from './options.ts';
import type { UndoPointsOptions, UndoRunOptions } from './types.ts';

/** Undoes a run; see `undo` of the main entry. */
export async function undoRun(runId: string, options: UndoRunOptions = {}): Promise<Undone> {
  checkUndo(runId, options);
  const { dryRun = false, paths, dir } = options;
  const target = await placeOfRun(runId, options);
  const [there, absolute] = [thereOf(target), pathOn(target)];
  const wanted = {
    dryRun,
    ...(paths && { paths: paths.map(absolute) }),
    ...(dir !== undefined && { dir: absolute(dir) }),
  };
  const undone = await settled({
    begin: (way) => (there ? there.native.undo(runId, wanted) : way.undo(runId, ownEnvironment(), wanted)),
    kind: 'undone',
    answer: (event) => event.undone,
    target: there?.id,
  });
  // A copy: the caller may change its result.
  if (!dryRun && channels.undo.hasSubscribers) channels.undo.publish(structuredClone(undone) satisfies ObservedUndo);
  return undone;
}

/**
 * Finds the newest run of a directory that changed something, was not undone and is no undo; for `agent-bash undo`.
 * Only what an undo with these options would do counts.
 */
export async function newestToUndo(directory: string, options: UndoRunOptions): Promise<string | null> {
  const { paths, dir, target } = options;
  const [there, absolute] = [thereOf(target), pathOn(target)];
  const [below, store] = [paths?.map(absolute), dir === undefined ? null : absolute(dir)];
  return settled({
    begin: (way) =>
      there
        ? there.native.newestToUndo(directory, below, store)
        : way.newestToUndo(directory, below, store, ownEnvironment()),
    kind: 'newestToUndo',
    answer: (event) => event.run ?? null,
    target: there?.id,
  });
}

/** Lists the runs that can be undone; see `undoPoints` of the main entry. */
export async function listUndoPoints(options: UndoPointsOptions = {}): Promise<UndoPoint[]> {
  checkUndoPoints(options);
  const pool = poolOf(options.target);
  if (pool) {
    const places = pool.connected().map((target) => listUndoPoints({ ...options, target }));
    return (await Promise.all(places)).flat().sort((one, other) => other.at - one.at);
  }
  const there = thereOf(options.target);
  const absolute = (path: string | undefined) => (path === undefined ? null : pathOn(options.target)(path));
  const [cwd, dir] = [absolute(options.cwd), absolute(options.dir)];
  return settled({
    begin: (way) => (there ? there.native.undoPoints(cwd, dir) : way.undoPoints(cwd, dir, ownEnvironment())),
    kind: 'undoPoints',
    answer: (event) => event.points,
    target: there?.id,
  });
}

/** Returns the target of a run: of a pool, the place that keeps it. */
async function placeOfRun(runId: string, { target, dir }: UndoRunOptions): Promise<Target | undefined> {
  const pool = poolOf(target);
  if (!pool) return target as Target | undefined;
  for (const place of pool.connected()) {
    const points = await listUndoPoints({ target: place, dir });
    if (points.some((point) => point.runId === runId)) return place;
  }
  throw new BashError('ERR_BASH_UNDO', `nothing was undone: no connected place of the pool keeps the run ${runId}`);
}

/** Lists the undo points of these runs that were not evicted. */
export function undoPointsOf(runIds: string[]): Promise<UndoPoint[]> {
  return settled({
    begin: (way) => way.undoPointsOf(runIds, ownEnvironment()),
    kind: 'undoPoints',
    answer: (event) => event.points,
  });
}
