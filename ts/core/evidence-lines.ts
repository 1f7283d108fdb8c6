import type { Evidence, Masked } from 'agent-bash';
import { oneLine } from './lines.ts';

/** Characters of a command in a line. */
const COMMAND_LENGTH = 60;
/** Hidden failures with a line of their own. */
const LISTED = 3;
/** The most hidden failures that evidence lists. */
const MOST = 20;

/** Returns the lines about failures that the exit code does not show. */
export function evidenceLines({ masked }: Pick<Evidence, 'masked'>): string[] {
  const more = masked.length - LISTED;
  const least = masked.length >= MOST ? 'at least ' : '';
  const rest = more > 0 ? [`${least}${more} more hidden failure${more === 1 ? '' : 's'}`] : [];
  return [...masked.slice(0, LISTED).map(hiddenLine), ...rest];
}

function hiddenLine(failure: Masked): string {
  const { command, signal, exitCode } = failure;
  const end = signal === null ? `exit code ${exitCode}` : `killed: ${signal}`;
  return `hidden failure: «${short(command)}» ${end}, ${place(failure)}`;
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
