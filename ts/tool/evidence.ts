import type { Evidence, Masked } from 'agent-bash';
import { oneLine } from './parts.ts';

/** Characters of a command in a line. */
const COMMAND_LENGTH = 60;
/** Hidden failures with a line of their own. */
const LISTED = 3;

/** Returns the lines about failures that the exit code does not show, or `''`. */
export function evidencePart(evidence: Evidence | null | undefined): string {
  // A hook or a replacement of `bash` may give a result of another version.
  if (!evidence) return '';
  const { masked } = evidence;
  const more = masked.length - LISTED;
  const rest = more > 0 ? [`[${more} more hidden failure${more === 1 ? '' : 's'}]`] : [];
  return [...masked.slice(0, LISTED).map(hiddenLine), ...rest].join('\n');
}

function hiddenLine(failure: Masked): string {
  const { command, signal, exitCode } = failure;
  const end = signal === null ? `exit code ${exitCode}` : `killed: ${signal}`;
  return `[hidden failure: «${short(command)}» ${end}, ${place(failure)}]`;
}

function place({ by, behind }: Masked): string {
  const what = behind === null ? '' : ` ${short(behind)}`;
  switch (by) {
    case 'pipe':
      return `behind |${what}`;
    case 'or':
      return `behind ||${what}`;
    case 'sequence':
      return `behind ;${what}`;
    case 'background':
      return 'behind &';
    case 'substitution':
      return 'in $(…)';
  }
}

function short(command: string): string {
  const line = oneLine(command);
  return line.length > COMMAND_LENGTH ? `${line.slice(0, COMMAND_LENGTH - 1)}…` : line;
}
