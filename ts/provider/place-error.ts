import { BashError, type TargetReason } from 'agent-bash';
import { visible } from '../core/visible.ts';

/** The most of a program's standard error that an error has, in UTF-16 units. */
const MOST_TOLD = 4096;

/** Returns the error for a place that could not be made, moved on or ended. `said` is the standard error. */
export function placeError(reason: TargetReason, message: string, said = ''): BashError {
  return Object.assign(new BashError('ERR_BASH_TARGET', message), { reason, stderr: visible(said).slice(-MOST_TOLD) });
}

/** Returns the error for a place that the caller no longer waits for. */
export function givenUp(place: string, state: string): BashError {
  return new BashError('ABORT_ERR', `${place} was given up: ${state}`);
}

/** Returns the line of what a program has printed that tells of its error, for a message. */
export function errorLine(said: string): string {
  const lines = said.trimEnd().split('\n');
  const told = lines.findLast((line) => /error|unrecognized|refused/i.test(line)) ?? lines.at(-1) ?? '';
  return visible(told).slice(0, 500);
}
