import { join } from 'node:path';
import { Failure } from '../../console.ts';
import { CAUSES, type Cause, type Own } from './causes.ts';
import { copiesBelow, stateOf } from './disk.ts';
import type { Facts } from './facts.ts';
import type { Change, Removal, Step, Target, Written } from './types.ts';

/** Where changes are made. */
export interface Place {
  /** The directory in place of `/`. */
  top: string;
  /** Whether programs are run. */
  runs: boolean;
}

const isWritten = (change: Change): change is Written => change.kind !== 'run';

/**
 * Returns the steps against the causes that a machine has, or for another machine, which `target` names. Changes that
 * are made already are left out. `isHere` is whether the plan is for the files below `top`.
 */
export function planOf(own: Own, facts: Facts | Target, { top, runs }: Place, isHere: boolean): Step[] {
  const asked = typeof facts === 'string' ? null : facts;
  const causes = CAUSES.filter((cause) => (asked === null ? cause.target === facts : cause.isAt(asked)));
  return causes.flatMap((cause) => {
    const all = placed(cause.changes(own, asked), top);
    const files = all.filter(isWritten).filter((change) => !isHere || isDue(change));
    // A cause that was found although its files are there needs its programs once more.
    const programs = runs && (files.length > 0 || asked !== null) ? all.filter((change) => !isWritten(change)) : [];
    const changes = [...files, ...programs];
    const undo = undoing(cause, all.filter(isWritten), runs).map(shellLine);
    return changes.length === 0 ? [] : [{ why: cause.why, changes, undo, use: cause.use ?? [] }];
  });
}

/** Returns the steps that remove what `planOf` has made, and the files that stay because they were changed since. */
export function unplanOf(own: Own, { top, runs }: Place): { plan: Step[]; left: string[] } {
  const left: string[] = [];
  const plan = CAUSES.flatMap((cause) => {
    const files = placed(cause.changes(own, null), top).filter(isWritten);
    const found = files.map((change) => ({ change, state: stateOf(change) }));
    const ours = found.filter(({ state }) => state === 'same' || state === 'ours').map(({ change }) => change);
    left.push(...found.filter(({ state }) => state === 'other').map(({ change }) => change.path));
    const undo = [`agent-bash doctor --fix${runs ? '' : ` --for ${cause.target} --root ${top}`}`];
    const changes = undoing(cause, ours, runs);
    return ours.length === 0 ? [] : [{ why: 'agent-bash wrote it', changes, undo, use: [] }];
  });
  const known = new Set([...left, ...plan.flatMap(({ changes }) => changes.map(pathOf))]);
  return { plan, left: [...left, ...copiesBelow(top).filter((path) => !known.has(path))] };
}

/** Returns the value that `--json` prints. */
export function jsonOf(plan: Step[]): { why: string; changes: Change[]; undo: string[] }[] {
  return plan.map(({ why, changes, undo, use }) => ({
    why: [why, ...use].join('\n'),
    changes: changes.map((change) => (change.kind === 'remove' ? { kind: 'run', argv: rm(change) } : change)),
    undo,
  }));
}

/** Returns the words as a line for a shell. */
export function shellLine(change: Change | Removal): string {
  const argv = change.kind === 'remove' ? rm(change) : change.kind === 'run' ? change.argv : [];
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

const rm = ({ path }: Removal) => ['rm', path];
const pathOf = (change: Change | Removal) => ('path' in change ? change.path : null);

function placed(changes: Change[], top: string): Change[] {
  return changes.map((change) => (isWritten(change) ? { ...change, path: join(top, change.path) } : change));
}

/** Returns whether a file has to be written. Throws for a file that agent-bash has not written as it is. */
function isDue(change: Written): boolean {
  const state = stateOf(change);
  // A copy with other bytes is of another build of the same version.
  if (state !== 'other' || change.kind === 'copy') return state !== 'same';
  throw new Failure(
    'EEXIST',
    `${change.path} is there, and is not as agent-bash wrote it: move it away, and try again`,
  );
}

function undoing({ undo }: Cause, files: Written[], runs: boolean): (Change | Removal)[] {
  const program = (argv?: string[]): Change[] => (argv && runs ? [{ kind: 'run', argv }] : []);
  const removals = files.map(({ path }): Removal => ({ kind: 'remove', path }));
  return [...program(undo.before), ...removals.reverse(), ...program(undo.after)];
}
