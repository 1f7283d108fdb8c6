import type { BackgroundTask, BashResult } from 'agent-bash';
import { type Advice, BY_INPUT } from './advice.ts';
import { formatCheck } from './format-check.ts';
import { joinParts, withoutLastNewline, withSuggestion } from './parts.ts';
import type { BashToolError, BashToolModelOutput, BashToolOutput } from './types.ts';

/**
 * The text of a result that the model reads. Parts stand apart by a blank line, empty ones are left out: how it ended
 * where that is no plain success, the streams (`(no output)` when both are empty), the exit code, what to do after a
 * time limit, the notes. Truncation notices are part of the streams already. Of a command that goes on in the background:
 * its pid, its log, and how to check and stop it.
 */
export function formatResult(result: BashResult): string {
  return resultText(result, BY_INPUT);
}

function resultText(result: BashResult, advice: Advice): string {
  const { background } = result;
  const parts = background ? inBackground(result, background, advice) : ended(result, advice);
  return joinParts([...parts, noteLines(result, advice)]);
}

/** The notes, one a line in brackets. */
export function noteLines({ notes }: BashResult, { note }: Advice): string {
  return notes.map((each) => `[${note(each)}]`).join('\n');
}

/** What the model reads of any output of the tool. With `errorOnFailure` a non-zero exit code is an error text. */
export function formatOutput(
  output: BashToolOutput,
  errorOnFailure: boolean,
  advice: Advice = BY_INPUT,
): BashToolModelOutput {
  if ('error' in output) return { type: 'error-text', value: refusal(output) };
  if ('task' in output) return { type: 'text', value: formatCheck(output) };
  // An interface that lost the call keeps the last snapshot and sends it as the result: nobody saw the end.
  if (output.status === 'running') return { type: 'text', value: joinParts([INTERRUPTED, ...streams(output)]) };
  const failed = errorOnFailure && output.status !== 'backgrounded' && output.exitCode !== 0;
  return { type: failed ? 'error-text' : 'text', value: resultText(output, advice) };
}

/** What was wrong, and what to run instead where the safety engine knows that. */
function refusal({ error, findings = [] }: BashToolError): string {
  const named = findings.find(({ message }) => message === error)?.suggestion;
  return withSuggestion(error, named);
}

const INTERRUPTED = '[command interrupted]';

function ended(result: BashResult, advice: Advice): string[] {
  return [
    headline(result),
    ...streams(result),
    result.exitCode === null ? '' : `exit code: ${result.exitCode}`,
    result.status === 'timed-out' ? advice.atLimit : '',
  ];
}

function inBackground(result: BashResult, task: BackgroundTask, advice: Advice): string[] {
  const { pid, pgid, logPath } = task;
  // One that was started there has no output yet, and so none that could have been cut.
  const moved = result.truncation.stdout !== null || result.truncation.stderr !== null;
  if (!moved) {
    return [
      `<pid>${pid}</pid>`,
      `<output_file>${logPath}</output_file>`,
      `<reminder>To stop: kill -9 -${pgid}</reminder>`,
    ];
  }
  const limit = result.timeoutMs === null ? '' : ` after ${result.timeoutMs / 1000}s timeout`;
  return [
    `[Command backgrounded${limit} (pid ${pid}). Partial output:`,
    ...streams(result),
    `Full output: ${logPath}`,
    `${advice.manage(task)}]`,
  ];
}

/** How it ended, where that is no plain success; `''` in the background too. */
export function headline({ status, exitCode, signal, timeoutMs }: BashResult): string {
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

/** Both streams, each under its name. */
export function streams({ stdout, stderr }: { stdout: string; stderr: string }): string[] {
  if (stdout === '' && stderr === '') return ['(no output)'];
  return [stream('stdout', stdout), stream('stderr', stderr)];
}

function stream(name: string, text: string): string {
  return text === '' ? '' : `${name}:\n${withoutLastNewline(text)}`;
}
