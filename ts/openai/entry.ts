import type { BashResult } from 'agent-bash';
import { byCommand, formatOutput, headline, nextStep, noteLines } from '../tool/call/format.ts';
import { NOT_RUN } from '../tool/call/judge.ts';
import { changedPart, denialPart, evidencePart, reusedPart, stalePart } from '../tool/parts.ts';
import { LONGEST_LIMIT_MS } from '../tool/schema.ts';
import type { BashToolError, BashToolOutput } from '../tool/types.ts';
import type { ShellEntry } from './types.ts';

/** Advice about slow commands for both tools of OpenAI. */
export const ADVICE = byCommand(
  `To give the command more time, pass a larger timeout_ms (up to ${LONGEST_LIMIT_MS}), or start it in the background with its output in a file.`,
);

/** Returns the output of one command in OpenAI's shape. Changed paths are shown relative to `cwd`. */
export function entryOf(output: BashToolOutput, cwd = process.cwd()): ShellEntry {
  if ('error' in output) return nothingRan(output);
  // A hook may replace the result with anything.
  if ('task' in output || (output.status !== 'running' && !('notes' in output)))
    return { stdout: textOf(output), stderr: '', outcome: { type: 'exit', exitCode: 0 } };
  if (output.status === 'running') {
    return { stdout: output.stdout, stderr: output.stderr, outcome: { type: 'timeout' } };
  }
  const { status, exitCode } = output;
  const { stdout, stderr } = streamsOf(output);
  const late = status === 'timed-out' || status === 'backgrounded' || exitCode === null;
  return {
    stdout,
    stderr: withLines(stderr, said(output, cwd)),
    outcome: late ? { type: 'timeout' } : { type: 'exit', exitCode },
  };
}

/**
 * Returns the streams as the model reads them. A view of both streams has them under their names, and the whole of it
 * is in `stdout`.
 */
function streamsOf({ view, stdout, stderr }: BashResult): { stdout: string; stderr: string } {
  if (!view) return { stdout, stderr };
  return stdout === '' ? { stdout, stderr: view.text.replace(/^stderr:\n/, '') } : { stdout: view.text, stderr: '' };
}

/** Returns the entry of a command that did not run. */
export function nothingRan(error: BashToolError): ShellEntry {
  return { stdout: '', stderr: textOf(error), outcome: { type: 'exit', exitCode: NOT_RUN } };
}

function textOf(output: BashToolOutput): string {
  return formatOutput(output, false).value;
}

/** Returns the facts that the outcome does not carry. An exit code needs no words. */
function said(result: BashResult, cwd: string): string[] {
  const { status, background, timeoutMs, truncation } = result;
  // A task that was started in the background has reached no limit.
  const moved = truncation.stdout !== null || truncation.stderr !== null;
  const place = 'cwd' in result ? String(result.cwd) : cwd;
  const limit = timeoutMs === null || !moved ? '' : ` after ${timeoutMs / 1000}s`;
  return [
    reusedPart(result.reused, ADVICE.anew),
    status === 'exited' ? '' : headline(result),
    evidencePart(result, `${result.stdout}${result.stderr}`, false),
    nextStep(result, ADVICE),
    background
      ? `[command goes on in the background${limit}: pid ${background.pid}. Full output: ${background.logPath}. ${ADVICE.manage(background, result.confinement)}]`
      : '',
    changedPart(result, place, false),
    stalePart(result.stale, place),
    denialPart(result.confinement, false),
    noteLines(result, ADVICE),
  ].filter((line) => line !== '');
}

function withLines(text: string, lines: string[]): string {
  if (lines.length === 0) return text;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${lines.join('\n')}\n`;
}
