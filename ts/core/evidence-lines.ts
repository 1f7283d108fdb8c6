import type { Check, Evidence, Masked, NotKnown, TestCounts } from 'agent-bash';
import { oneLine } from './lines.ts';

/** Characters of a command in a line. */
const COMMAND_LENGTH = 60;
/** Hidden failures with a line of their own. */
const LISTED = 3;
/** The most hidden failures that evidence lists. */
const MOST = 20;

/**
 * Returns the lines that models read: failures that the exit code does not show or could hide, and tests that did not
 * run or end differently than before. Each has at most 200 characters.
 */
export function evidenceLines(evidence: Pick<Evidence, 'masked' | 'notKnown' | 'tests' | 'checks'>): string[] {
  const { tests, checks } = evidence;
  return [...hiddenLines(evidence, LISTED), ...idleLines(tests), ...againLines(tests, checks)];
}

/** Returns the lines about failures that the exit code does not show, and one about what it could hide. */
export function hiddenLines({ masked, notKnown }: Pick<Evidence, 'masked' | 'notKnown'>, most: number): string[] {
  const more = masked.length - most;
  const least = masked.length >= MOST ? 'at least ' : '';
  return [
    ...masked.slice(0, most).map(hiddenLine),
    ...(more > 0 ? [`${least}${more} more hidden failure${more === 1 ? '' : 's'}`] : []),
    // Evidence of another version may lack the field.
    ...(notKnown ? [`not known: the exit code of «${short(notKnown.command)}», ${place(notKnown)}`] : []),
  ];
}

function hiddenLine(failure: Masked): string {
  const { command, signal, exitCode } = failure;
  const end = signal === null ? `exit code ${exitCode}` : `killed: ${signal}`;
  return `hidden failure: «${short(command)}» ${end}, ${place(failure)}`;
}

function place({ by, behind }: Pick<NotKnown, 'by' | 'behind'>): string {
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

/** Returns a line if a runner ran no test. Beside runners that ran some it is named. */
function idleLines(tests: readonly TestCounts[]): string[] {
  const idle = tests.filter(ranNone).map(({ runner }) => runner);
  if (idle.length === 0) return [];
  return [`tests: none ran${idle.length === tests.length ? '' : ` by ${idle.slice(0, LISTED).join(', ')}`}`];
}

/** Returns whether a runner is known to have run no test. One that does not print how many passed may have run some. */
export function ranNone({ complete, failed, passed, total }: TestCounts): boolean {
  return complete && failed === 0 && (passed === 0 || total === 0);
}

function againLines(tests: readonly TestCounts[], checks: readonly Check[]): string[] {
  const compared = comparedInWords(checks);
  if (compared === '') return [];
  const sum = (which: 'failed' | 'passed' | 'skipped') =>
    tests.reduce<number | null>((all, { [which]: count }) => (all === null || count === null ? null : all + count), 0);
  const now = countsInWords({ failed: sum('failed'), passed: sum('passed'), skipped: sum('skipped') });
  return [`tests: ${now === '' ? '' : `${now}; `}${compared}`];
}

/** Returns how failed tests differ from those of the last run of their checks: `2 as before, 1 new, 1 fixed`. */
export function comparedInWords(checks: readonly Check[]): string {
  const known = checks.flatMap(({ again }) => (again === null ? [] : [again]));
  const number = (which: 'same' | 'appeared' | 'fixed') => known.reduce((sum, again) => sum + again[which].length, 0);
  return counted([number('same'), 'as before'], [number('appeared'), 'new'], [number('fixed'), 'fixed']);
}

/** Returns the counts that are known and not 0: `3 failed, 42 passed, 1 skipped`. */
export function countsInWords(counts: Record<'failed' | 'passed' | 'skipped', number | null>): string {
  return counted([counts.failed, 'failed'], [counts.passed, 'passed'], [counts.skipped, 'skipped']);
}

function counted(...counts: [count: number | null, word: string][]): string {
  return counts
    .filter(([count]) => count)
    .map(([count, word]) => `${count} ${word}`)
    .join(', ');
}
