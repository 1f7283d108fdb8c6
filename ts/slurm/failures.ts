import type { TargetReason } from 'agent-bash';
import type { ProgramAnswer } from '../provider/program-call.ts';

/** What a failed call of a program of Slurm means. */
export interface SlurmFailure {
  reason: TargetReason;
  /** What the caller can do. */
  remedy: string;
  /** Whether another attempt may succeed. */
  passes: boolean;
}

/** What the programs say, and what it means. The first row that fits counts. */
const SAID: [words: RegExp, failure: SlurmFailure][] = [
  [
    /exec: .*(?:not found|No such file)|sh: .*not found/,
    { reason: 'unreachable', remedy: 'run where Slurm is installed, or give a `login` node', passes: false },
  ],
  [
    /[Ii]nvalid partition|partition.*not available/,
    { reason: 'unreachable', remedy: 'name a partition of `sinfo` as `partition`', passes: false },
  ],
  [
    /[Ii]nvalid account|[Ii]nvalid qos|[Aa]ccess.*denied|[Pp]ermission denied|authentication|Invalid user/,
    {
      reason: 'auth',
      remedy: 'give an account that you may use in `args`: `sacctmgr show assoc user=$USER`',
      passes: false,
    },
  ],
  [
    /time limit|TimeLimit/,
    { reason: 'no-place', remedy: 'lower `minutes` to the limit of the partition: `sinfo -o "%P %l"`', passes: false },
  ],
  [
    /QOS|policy|[Ll]imit|node configuration|[Nn]ode count|CPU count|[Mm]emory specification|Invalid generic resource/,
    { reason: 'no-place', remedy: 'ask for what the partition and your account allow, in `args`', passes: false },
  ],
  [
    /timed out|Zero Bytes/,
    { reason: 'timeout', remedy: 'see whether the controller answers: `scontrol ping`', passes: true },
  ],
  [
    /contact slurm controller|connect failure|[Cc]onnection refused|[Uu]nable to connect|in progress|try again|temporarily/i,
    { reason: 'unreachable', remedy: 'see whether the controller answers: `scontrol ping`', passes: true },
  ],
];

const OTHER: SlurmFailure = { reason: 'unreachable', remedy: 'try it by hand', passes: false };

/** Returns what a failed call means. */
export function failureOf({ timedOut, stderr }: ProgramAnswer): SlurmFailure {
  if (timedOut)
    return { reason: 'timeout', remedy: 'see whether the controller answers: `scontrol ping`', passes: true };
  return SAID.find(([words]) => words.test(stderr))?.[1] ?? OTHER;
}

/** Reasons of a pending job that do not pass by themselves. */
const NEVER = /TimeLimit|NodeLimit|WallDuration|BadConstraints|JobHeld|NeverSatisfied|Invalid|NotAllowed/;

/** Returns whether a pending job with this reason never begins. */
export function neverBegins(reason: string): boolean {
  return NEVER.test(reason);
}
