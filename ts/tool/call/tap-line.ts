import type { Tap } from 'agent-bash';
import { oneLine } from '../../core/lines.ts';

/** Characters of a command in the line. */
const COMMAND_LENGTH = 60;

/**
 * Returns the line about the kept output of a pipeline's first program; `''` if it has no more than the model reads.
 *
 * @param shown the number of lines of standard output that the model reads.
 * @param recalls whether the model may recall lines. Otherwise the line names the file, if `readable`.
 */
export function tapLine(tap: Tap, shown: number, recalls: boolean, readable: boolean): string {
  if (tap.lines <= shown || !(recalls || readable)) return '';
  const { command, lines, id, path } = tap;
  const line = oneLine(command);
  const named = line.length > COMMAND_LENGTH ? `${line.slice(0, COMMAND_LENGTH - 1)}…` : line;
  const place = recalls ? `kept as #${id}: recall "${id} /pattern/"` : `kept in ${path}`;
  return `«${named}» wrote ${lines.toLocaleString('en-US')} line${lines === 1 ? '' : 's'}, ${place}`;
}
