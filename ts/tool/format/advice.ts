import type { BackgroundTask } from 'agent-bash';
import { LONGEST_LIMIT_MS, modeLimit } from '../limits.ts';

/** Advice to a model about a slow command. It depends on the inputs of the model's tool. */
export interface Advice {
  /** Advice for a command that reached its time limit. */
  readonly atLimit: string;
  /** Advice for a command that was silent for too long. */
  readonly atSilence: string;
  /** Advice for a command that continues in the background. */
  manage: (task: BackgroundTask) => string;
  /** Rewords a note for this model. */
  note: (note: string) => string;
}

/** The inputs of the bash tool that manage background tasks. */
export const MANAGE_BY_INPUT = 'check_pid or kill_pid';

const SILENT =
  'It was the silence that counted, which more time does not change. Have the command print its progress, or';

/** Advice for our own bash tool. */
export const BY_INPUT: Advice = {
  get atLimit() {
    return `To give the command more time, use mode "slow" (${modeLimit('slow')}), a larger timeout_ms (up to ${LONGEST_LIMIT_MS}), or mode "background".`;
  },
  atSilence: `${SILENT} use mode "background".`,
  manage: () => `Use ${MANAGE_BY_INPUT} to manage.`,
  note: (note) => note,
};

/** Advice for tools whose input schema a provider defines: background tasks are managed with commands. */
export function byCommand(atLimit: string): Advice {
  return {
    atLimit,
    atSilence: `${SILENT} start it in the background with its output in a file.`,
    manage: ({ pgid }) => `To stop: kill -9 -${pgid}`,
    note: (note) => note.replace(`; ${MANAGE_BY_INPUT} to manage it;`, '; kill ends it;'),
  };
}
