import type { BashResult } from 'agent-bash';
import { byCommand } from '../ai/advice.ts';
import { formatOutput, headline, noteLines } from '../ai/format.ts';
import type { BashToolError, BashToolOutput } from '../ai/types.ts';
import type { ShellEntry } from './types.ts';

/** What a shell says of a command that is there and cannot be run. */
const NOTHING_RAN = 126;

/** What both tools of OpenAI can do about a command that takes long. */
export const ADVICE = byCommand(
  'To give the command more time, pass a larger timeout_ms (up to 3600000), or start it in the background with its output in a file.',
);

/** One command as OpenAI wants to read it. */
export function entryOf(output: BashToolOutput): ShellEntry {
  if ('error' in output) return nothingRan(output);
  // A hook may put anything in the place of a result.
  if ('task' in output) return { stdout: textOf(output), stderr: '', outcome: { type: 'exit', exitCode: 0 } };
  const { stdout, stderr, status, exitCode } = output;
  if (status === 'running') return { stdout, stderr, outcome: { type: 'timeout' } };
  const late = status === 'timed-out' || status === 'backgrounded' || exitCode === null;
  return {
    stdout,
    stderr: withLines(stderr, said(output)),
    outcome: late ? { type: 'timeout' } : { type: 'exit', exitCode },
  };
}

/** A command that did not run. */
export function nothingRan(error: BashToolError): ShellEntry {
  return { stdout: '', stderr: textOf(error), outcome: { type: 'exit', exitCode: NOTHING_RAN } };
}

function textOf(output: BashToolOutput): string {
  return formatOutput(output, false).value;
}

/** What the outcome does not say. An exit code says enough of itself. */
function said(result: BashResult): string[] {
  const { status, background, timeoutMs, truncation } = result;
  // One that was started there has reached no limit.
  const moved = truncation.stdout !== null || truncation.stderr !== null;
  const limit = timeoutMs === null || !moved ? '' : ` after ${timeoutMs / 1000}s`;
  return [
    status === 'exited' ? '' : headline(result),
    status === 'timed-out' ? ADVICE.atLimit : '',
    background
      ? `[command goes on in the background${limit}: pid ${background.pid}. Full output: ${background.logPath}. ${ADVICE.manage(background)}]`
      : '',
    noteLines(result, ADVICE),
  ].filter((line) => line !== '');
}

function withLines(text: string, lines: string[]): string {
  if (lines.length === 0) return text;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${lines.join('\n')}\n`;
}
