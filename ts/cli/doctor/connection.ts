import type { Target } from 'agent-bash';
import { type Check, fine, missing } from './check.ts';

/** Reports the connection to a target, which is there. */
export function connection({ info }: Target): Check {
  const { rttMs, program, lingers, user } = info;
  const found = [
    `a round trip takes ${rttMs.toFixed(1)} ms`,
    `the program ${program.sent ? 'was sent to' : 'was found at'} ${program.path}`,
  ];
  const name = 'connection';
  if (lingers) return fine(name, [...found, 'work goes on without a link'].join(', '));
  if (lingers === null) return fine(name, [...found, 'it is not known if work goes on without a link'].join(', '));
  const cost = `a cut of the link loses what runs: KillExcludeUsers=${user} in logind.conf there keeps it`;
  return missing(name, [...found, 'the system ends processes with the login'].join(', '), cost);
}
