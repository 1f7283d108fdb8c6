import type { BashResult } from 'agent-bash';
import type { BashToolModelOutput, BashToolOutput } from './types.ts';

/**
 * The text of a result that the model reads. Parts stand apart by a blank line, empty ones are left out: how it ended
 * where that is no plain success, the streams (`(no output)` when both are empty), the exit code, what to do after a
 * time limit, the notes. Truncation notices are part of the streams already.
 */
export function formatResult(result: BashResult): string {
  return joinParts([
    headline(result),
    ...streams(result),
    result.exitCode === null ? '' : `exit code: ${result.exitCode}`,
    result.status === 'timed-out' ? AFTER_TIMEOUT : '',
    result.notes.map((note) => `[${note}]`).join('\n'),
  ]);
}

/** What the model reads of any output of the tool. With `errorOnFailure` a non-zero exit code is an error text. */
export function formatOutput(output: BashToolOutput, errorOnFailure: boolean): BashToolModelOutput {
  if ('error' in output) return { type: 'error-text', value: output.error };
  // An interface that lost the call keeps the last snapshot and sends it as the result: nobody saw the end.
  if (output.status === 'running') return { type: 'text', value: joinParts([INTERRUPTED, ...streams(output)]) };
  const failed = errorOnFailure && output.exitCode !== 0;
  return { type: failed ? 'error-text' : 'text', value: formatResult(output) };
}

const INTERRUPTED = '[command interrupted]';
const AFTER_TIMEOUT = 'To give the command more time, use mode "slow" (15 min) or a larger timeout_ms (up to 3600000).';

function headline({ status, exitCode, signal, timeoutMs }: BashResult): string {
  switch (status) {
    case 'exited':
      return exitCode === 0 ? '' : `[command failed: exit code ${exitCode}]`;
    case 'signaled':
      return `[command killed: ${signal ?? `exit code ${exitCode}`}]`;
    case 'timed-out':
      return timeoutMs === null ? '[command timed out]' : `[command timed out after ${timeoutMs / 1000}s]`;
    case 'aborted':
      return INTERRUPTED;
    default:
      return '';
  }
}

function streams({ stdout, stderr }: { stdout: string; stderr: string }): string[] {
  if (stdout === '' && stderr === '') return ['(no output)'];
  return [stream('stdout', stdout), stream('stderr', stderr)];
}

function stream(name: string, text: string): string {
  // The newline that ends the last line is not a line of its own.
  return text === '' ? '' : `${name}:\n${text.endsWith('\n') ? text.slice(0, -1) : text}`;
}

function joinParts(parts: string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
