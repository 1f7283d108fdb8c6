import type { BashOptions } from 'agent-bash';
import type { BashToolOptions } from './types.ts';

/** Returns the option `undo` of commands for that of a tool. */
export function undoOption(undo: BashToolOptions['undo']): BashOptions['undo'] {
  if (typeof undo === 'boolean') return undo ? 'risky' : 'off';
  return undo;
}

/** Whether commands of a tool can be undone, and its input offers `undo_run`. */
export function offersUndo({ undo }: BashToolOptions): boolean {
  return undo !== undefined && undo !== false && undo !== 'off';
}
