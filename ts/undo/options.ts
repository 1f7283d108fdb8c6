import { type Check, type Checks, checkFields, invalid, path, type } from '../core/checks.ts';
import { PLACE } from '../fleet/handle.ts';
import type { CommandOptions } from '../types.ts';
import type { UndoPointsOptions, UndoRunOptions } from './types.ts';

// An empty list would name nothing, and mean everything.
const paths: Check = (value, name) => {
  if (!Array.isArray(value) || value.length === 0) throw invalid(name, value, 'an array of at least one path');
  for (const item of Array.from(value)) path(item, name);
};

const OF_RUN: Checks<UndoRunOptions> = { target: PLACE, dryRun: type('boolean'), paths, dir: path };

const OF_POINTS: Checks<UndoPointsOptions> = { target: PLACE, cwd: path, dir: path };

/** Checks what `undo` is called with. */
export function checkUndo(runId: unknown, options: unknown): asserts options is UndoRunOptions {
  if (typeof runId !== 'string' || runId === '') throw invalid('runId', runId, 'the id of a run');
  checkFields<UndoRunOptions>('undo', options, OF_RUN);
}

/** Checks what `undoPoints` is called with. */
export function checkUndoPoints(options: unknown): asserts options is UndoPointsOptions {
  checkFields<UndoPointsOptions>('undoPoints', options, OF_POINTS);
}

/** Returns `undo` for the addon, with a path that `absolute` makes absolute. */
export function nativeUndo(undo: CommandOptions['undo'], absolute: (path: string) => string): CommandOptions['undo'] {
  return typeof undo === 'object' && undo.dir !== undefined ? { ...undo, dir: absolute(undo.dir) } : undo;
}
