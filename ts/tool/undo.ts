import { realpathSync } from 'node:fs';
import { BashError, undo, undoPoints } from 'agent-bash';
import { OWNER, type Owned } from '../core/world.ts';
import { toolFolder } from './call-plan.ts';
import { sandboxOf } from './in-sandbox/sandbox.ts';
import type { BashToolOptions, BashToolOutput, BashToolUndone } from './types.ts';
import { offersUndo } from './undo-option.ts';

/** Runs of one tool or session that are remembered, at most. The oldest are dropped first. */
const MOST = 10_000;

/** The runs of each tool or session. Copies of an owner with another root share its `end`. */
const runs = new WeakMap<object, Set<string>>();

/** Remembers that a tool has run this. */
export function rememberRun(options: BashToolOptions & Owned, output: BashToolOutput): void {
  const owner = options[OWNER];
  const id = 'undoId' in output ? output.undoId : 'runId' in output ? output.runId : null;
  if (owner === undefined || !id || !offersUndo(options)) return;
  const known = runs.get(owner.end) ?? new Set();
  runs.set(owner.end, known);
  known.add(id);
  const [oldest] = known;
  if (known.size > MOST && oldest !== undefined) known.delete(oldest);
}

/**
 * Undoes a run that a model names. It must be one of this tool, or of a command that started in its directory: the
 * store has the runs of every tool of the user. Rejects with `ERR_BASH_UNDO` otherwise.
 */
export async function undoForModel(runId: string, options: BashToolOptions & Owned): Promise<BashToolUndone> {
  if (sandboxOf(options) !== undefined) {
    throw new BashError('ERR_BASH_UNSUPPORTED', 'commands in a sandbox cannot be undone here: nothing was undone');
  }
  const { undo: given } = options;
  if (!offersUndo(options)) throw new BashError('ERR_BASH_UNSUPPORTED', 'the tool keeps nothing that could be undone');
  const place = typeof given === 'object' && given.dir !== undefined ? { dir: given.dir } : {};
  const root = options[OWNER]?.root ?? toolFolder(options.cwd);
  const own = options[OWNER] && runs.get(options[OWNER].end)?.has(runId);
  if (!own) {
    const point = (await undoPoints(place)).find((each) => each.runId === runId);
    if (point !== undefined && !isWithin(point.cwd, root)) {
      throw new BashError('ERR_BASH_UNDO', `nothing was undone: run ${runId} is not one of this tool`);
    }
  }
  const undone = await undo(runId, place);
  return { status: 'undone', exitCode: undone.conflicts.length > 0 ? 1 : 0, ...undone };
}

function isWithin(path: string, root: string): boolean {
  const below = (parent: string) => path === parent || path.startsWith(parent === '/' ? parent : `${parent}/`);
  return below(root) || below(real(root));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
