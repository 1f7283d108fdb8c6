import type { BackgroundTask } from 'agent-bash';

/** What a model is told to do about a command that takes long, by the inputs that its tool has. */
export interface Advice {
  /** For a command that was ended at its limit. */
  atLimit: string;
  /** For one that goes on in the background. */
  manage: (task: BackgroundTask) => string;
  /** A note, as this model can use it. */
  note: (note: string) => string;
}

/** The inputs of the bash tool that manage what runs in the background. */
export const MANAGE_BY_INPUT = 'check_pid or kill_pid';

/** For the bash tool of our own. */
export const BY_INPUT: Advice = {
  atLimit:
    'To give the command more time, use mode "slow" (15 min), a larger timeout_ms (up to 3600000), or mode "background".',
  manage: () => `Use ${MANAGE_BY_INPUT} to manage.`,
  note: (note) => note,
};

/** For tools whose input was defined by others: what is in the background is managed by commands. */
export function byCommand(atLimit: string): Advice {
  return {
    atLimit,
    manage: ({ pgid }) => `To stop: kill -9 -${pgid}`,
    note: (note) => note.replace(`; ${MANAGE_BY_INPUT} to manage it;`, '; kill ends it;'),
  };
}
