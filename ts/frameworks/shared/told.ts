import type { BashResult } from 'agent-bash';
import { BY_INPUT, formatOutput, headline, noteLines } from '../../tool/call/format.ts';
import { nothingRan } from '../../tool/call/judge.ts';
import { changedPart, denialPart, evidencePart, joinParts, reusedPart, stalePart } from '../../tool/parts.ts';

/**
 * Returns what a model must know of a run besides its output and exit code, in the words of `formatResult`: lines in
 * brackets, or `''`. `status`: whether the framework has no place of its own for a limit, an abort and a signal.
 */
export function told(result: BashResult, cwd: string, status: boolean): string {
  const { confinement, stale, stdout, reused } = result;
  return joinParts([
    reusedPart(reused, ''),
    status && result.status !== 'exited' ? headline(result) : '',
    evidencePart(result, stdout, false),
    changedPart(result, cwd, false),
    stalePart(stale, cwd),
    denialPart(confinement, false),
    noteLines(result, BY_INPUT),
  ]);
}

/** Returns an output with what a model must know behind it. */
export function withTold(output: string, told: string): string {
  return output + toldAfter(output, told);
}

/** Returns what a model must know as it stands behind an output, of which the end is enough. */
export function toldAfter(output: string, told: string): string {
  if (told === '') return '';
  const gap = output === '' ? '' : output.endsWith('\n') ? '\n' : '\n\n';
  return `${gap}${told}\n`;
}

/** Returns why nothing ran, with the command to run instead if safety suggests one. */
export function refusal(error: unknown): string {
  return formatOutput(nothingRan(error, 'ERR_BASH_SPAWN'), false).value;
}
