import type { BashResult } from 'agent-bash';
import { comparedInWords, countsInWords, hiddenLines, ranNone } from '../core/evidence-lines.ts';
import { visible } from '../core/visible.ts';
import { grouped } from './words.ts';

type Evidence = NonNullable<BashResult['evidence']>;
type Counts = Evidence['tests'][number];

/** Hidden failures of a preview. */
const LISTED = 3;

/** Returns lines about failures that the exit code hides: three or, with `expanded`, all. */
export function hidden(evidence: Evidence, expanded: boolean): string[] {
  return hiddenLines(evidence, expanded ? Number.POSITIVE_INFINITY : LISTED).map(visible);
}

/** Returns the counts of tests, compared with the last run, and with `expanded` the names of failed ones. */
export function tests({ tests, checks }: Evidence, expanded: boolean): string[] {
  const compared = comparedInWords(checks);
  return [
    ...tests.flatMap((counts) => [counted(counts), ...(expanded ? failures(counts) : [])]),
    ...(compared === '' ? [] : [`against the last run: ${compared}`]),
  ];
}

function counted(counts: Counts): string {
  const { runner, complete } = counts;
  // `go test` prints no number of passed tests.
  const words = countsInWords(counts) || (ranNone(counts) ? 'none ran' : 'none failed');
  return visible(`tests of ${runner}: ${words}${complete ? '' : ', without a summary'}`);
}

function failures({ failures, failed }: Counts): string[] {
  const left = Math.max(failed - failures.length, 0);
  return [
    ...failures.map((name) => visible(`  failed ${name}`)),
    ...(left > 0 && failures.length > 0 ? [`  failed ${grouped(left)} more`] : []),
  ];
}
