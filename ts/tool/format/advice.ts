import type { BackgroundTask, Confinement } from 'agent-bash';
import { LONGEST_LIMIT_MS, modeLimit } from '../limits.ts';

/** Advice to a model about a slow command. It depends on the inputs of the model's tool. */
export interface Advice {
  /** Advice for a command that reached its time limit. */
  readonly atLimit: string;
  /** Advice for a command that was silent for too long. */
  readonly atSilence: string;
  /** The way to stop a task. Its numbers are those outside of a confinement. */
  stop: (task: BackgroundTask, confinement: Confinement | null) => string;
  /** Advice for a command that continues in the background. */
  manage: (task: BackgroundTask, confinement: Confinement | null) => string;
  /** Rewords a note for this model. */
  note: (note: string, confinement: Confinement | null) => string;
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
  stop: ({ pid, pgid }, confinement) => (isRenumbered(confinement) ? `kill_pid ${pid}` : `kill -9 -${pgid}`),
  manage: () => `Use ${MANAGE_BY_INPUT} to manage.`,
  note: (note) => note,
};

/** Advice for tools whose input schema a provider defines: background tasks are managed with commands. */
export function byCommand(atLimit: string): Advice {
  const stop: Advice['stop'] = ({ pgid }, confinement) =>
    isRenumbered(confinement) ? `kill -9 -PGID, with the PGID that ps -eo pgid,args shows` : `kill -9 -${pgid}`;
  return {
    atLimit,
    atSilence: `${SILENT} start it in the background with its output in a file.`,
    stop,
    manage: (task, confinement) => `To stop: ${stop(task, confinement)}`,
    note: (note, confinement) => {
      const ends = isRenumbered(confinement) ? '; kill with the number that ps shows ends it;' : '; kill ends it;';
      return note.replace(`; ${MANAGE_BY_INPUT} to manage it;`, ends);
    },
  };
}

/** Whether commands see processes under other numbers than results name. */
function isRenumbered(confinement: Confinement | null): boolean {
  return confinement?.held.includes('processes') ?? false;
}
