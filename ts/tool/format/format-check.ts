import type { BackgroundCheck, BackgroundTask } from 'agent-bash';
import type { BashToolCheck } from '../output-types.ts';
import { changedPart } from './changes.ts';
import { denialPart } from './denials.ts';
import { joinParts, withoutLastNewline } from './parts.ts';
import type { Reading } from './reading.ts';

/**
 * Returns the text that the model reads of a check or a kill: the state of the process, its new output, the path of the
 * log, what an ended one changed, and all denials of its confinement so far. The output already contains its truncation
 * notice. Changed paths are shown relative to the directory of the task.
 */
export function formatCheck(check: BackgroundCheck): string {
  return checkText(check, {});
}

/** Returns the same text for a model that may ask for access, or undo the task. */
export function checkText(check: BashToolCheck, { asks = false, undoes = false }: Pick<Reading, 'asks' | 'undoes'>) {
  const { task, output, newLines, confinement, view } = check;
  return joinParts([
    `[Process ${task.pid} ${stateOf(task)}.`,
    output === ''
      ? 'No new output since last check.'
      : `New output since last check (${newLines} lines):\n${withoutLastNewline(view?.text ?? output)}`,
    `Full output: ${task.logPath}]`,
    changedPart(check, task.cwd, undoes),
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
