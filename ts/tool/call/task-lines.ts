import type { BackgroundTask } from 'agent-bash';

/** Tasks, and characters of their commands, that the model reads. Programs receive all of them. */
const MOST = 50;
const COMMAND_LENGTH = 200;

/** The description of a tool that lists tasks. */
export const OF_TASKS =
  'Lists the processes that bash started in the background, with pid, state, command and the file of their output: those that run first, then the newest. check_pid, wait_pid and kill_pid of bash look at one, wait for it and end it.';

/** Returns the tasks as a model reads them, in this order. */
export function taskLines(tasks: BackgroundTask[]): string {
  if (tasks.length === 0) return 'There are no background processes.';
  const more = tasks.length - MOST;
  return [...tasks.slice(0, MOST).map(line), ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
}

function line({ pid, state, exitCode, signal, command, logPath }: BackgroundTask): string {
  const end = state === 'exited' ? ` with code ${exitCode}` : state === 'killed' ? ` by ${signal ?? exitCode}` : '';
  const text = command.replaceAll(/\s+/g, ' ').trim();
  const shown = text.length > COMMAND_LENGTH ? `${text.slice(0, COMMAND_LENGTH - 1)}…` : text;
  return `${pid} ${state}${end}: ${shown} (output: ${logPath})`;
}
