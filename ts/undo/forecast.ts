import type { UndoForecast } from '../core/inner.ts';
import { loadNative } from '../core/native.ts';
import { answerOf, surroundings } from '../safety/index.ts';
import { safetyTables } from '../safety/options.ts';
import type { AnalyzeOptions } from '../safety/types.ts';
import type { UndoOptions } from '../schema/types.ts';

/** The answer of the addon about the undo of a command. */
interface Undoable {
  risky: boolean;
  why: string | null;
  notCovered: string[];
  /** Why a snapshot, which serves where `why` is set and not everything is required, does not cover all. */
  snapshot: string | null;
}

/** Tells how far the undo of a command would go, before it runs. `undo` is the option of `bash`. */
export function undoForecast(command: string, options: AnalyzeOptions, undo: UndoOptions | string): UndoForecast {
  if (undo === 'off') return { left: [], why: 'undo is off' };
  const wanted = typeof undo === 'string' ? { when: undo } : { when: 'risky', ...undo };
  const { risky, why, notCovered, snapshot } = answerOf<Undoable>(() =>
    loadNative().undoable(command, ...surroundings(command, options), safetyTables(options), wanted.maxFileBytes),
  );
  if (wanted.when === 'risky' && !risky) return { left: [], why: NOT_RISKY };
  if (why !== null && snapshot !== null && !wanted.require) return { left: [...notCovered, snapshot], why: null };
  return { left: notCovered, why };
}

const NOT_RISKY = 'nothing is kept of a command that is not known to delete or overwrite anything';
