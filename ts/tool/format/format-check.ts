import type { BackgroundCheck, BackgroundTask } from 'agent-bash';
import { joinParts, withoutLastNewline } from './parts.ts';

/**
 * Returns the text that the model reads of a check or a kill: the state of the process, its new output and the path of
 * the log. The output already contains its truncation notice.
 */
export function formatCheck({ task, output, newLines }: BackgroundCheck): string {
  return joinParts([
    `[Process ${task.pid} ${stateOf(task)}.`,
    output === ''
      ? 'No new output since last check.'
      : `New output since last check (${newLines} lines):\n${withoutLastNewline(output)}`,
    `Full output: ${task.logPath}]`,
  ]);
}

function stateOf({ state, exitCode, signal }: BackgroundTask): string {
  switch (state) {
    case 'running':
      return 'still running';
    case 'exited':
      return `exited with code ${exitCode}`;
    case 'killed':
      return `was killed: ${signal ?? `exit code ${exitCode}`}`;
    case 'lost':
      return 'was lost';
  }
}
