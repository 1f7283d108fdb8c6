import type { BashResult } from 'agent-bash';
import { type RenderInput, type RenderOptions, renderText } from 'agent-bash/render';
import { RESULT } from '../ai/fixtures/call.ts';

/** A result of a command that ended by itself, with what differs. */
export function ended(given: Partial<BashResult> = {}): BashResult {
  return { ...RESULT, durationMs: 12, timeoutMs: null, ...given } as BashResult;
}

/** The rows of a run, without colours unless asked for. */
export function rows(run: Partial<RenderInput>, options: RenderOptions = {}): string[] {
  return renderText({ command: 'x', result: null, ...run }, { colour: false, ...options }).split('\n');
}

/** The rendered output, line by line, without the lines around it. */
export function shown(stdout: string, options: RenderOptions = {}): string[] {
  return rows({ result: ended({ stdout }) }, { columns: Number.POSITIVE_INFINITY, ...options }).slice(1, -1);
}
