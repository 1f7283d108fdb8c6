import type { BackgroundCheck, BackgroundTask } from 'agent-bash';
import { denialPart } from './denials.ts';
import { joinParts, withoutLastNewline } from './parts.ts';

/**
 * Returns the text that the model reads of a check or a kill: the state of the process, its new output, the path of the
 * log, and all denials of its confinement so far. The output already contains its truncation notice.
 */
export function formatCheck(check: BackgroundCheck): string {
  return checkText(check, false);
}

/** Returns the same text. `asks`: whether the model may ask for access with its next call. */
export function checkText({ task, output, newLines, confinement }: BackgroundCheck, asks: boolean): string {
  return joinParts([
    `[Process ${task.pid} ${stateOf(task)}.`,
    output === ''
      ? 'No new output since last check.'
      : `New output since last check (${newLines} lines):\n${withoutLastNewline(output)}`,
    `Full output: ${task.logPath}]`,
    denialPart(confinement, asks),
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
