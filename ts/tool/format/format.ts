import { type BackgroundTask, type BashResult, bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import type { BashToolError, BashToolModelOutput, BashToolOutput } from '../types.ts';
import { type Advice, BY_INPUT } from './advice.ts';
import { denialPart } from './denials.ts';
import { checkText } from './format-check.ts';
import { joinParts, withoutLastNewline, withSuggestion } from './parts.ts';

/**
 * Returns the text that the model reads of a result. A blank line separates the parts, and empty parts are left out.
 * The parts are a line on how the command ended (not for a plain success), the streams (`(no output)` when both are
 * empty), the exit code, advice after a time limit, the denials of a confinement, and the notes. The streams already
 * contain their truncation notices. The text of a command that continues in the background gives its pid, its log, and
 * how to check and stop it.
 */
export function formatResult(result: BashResult): string {
  return resultText(result, BY_INPUT, false);
}

function resultText(result: BashResult, advice: Advice, asks: boolean): string {
  const { background } = result;
  const parts = background ? inBackground(result, background, advice) : ended(result, advice);
  return joinParts([...parts, denialPart(result.confinement, asks), noteLines(result, advice)]);
}

/** Returns the notes, one per line, in brackets. */
export function noteLines({ notes, confinement }: BashResult, { note }: Advice): string {
  return notes.map((each) => `[${note(each, confinement)}]`).join('\n');
}

/**
 * Returns what the model reads of any output of the tool. With `errorOnFailure` a non-zero exit code makes it an error
 * text. `asks`: whether the model may ask for access that a confinement denied.
 */
export function formatOutput(
  output: BashToolOutput,
  errorOnFailure: boolean,
  advice: Advice = BY_INPUT,
  asks = false,
): BashToolModelOutput {
  if ('error' in output) return { type: 'error-text', value: refusal(output) };
  if ('task' in output) return { type: 'text', value: checkText(output, asks) };
  // A user interface that lost the call keeps the last snapshot and sends it as the result. The command's exit is
  // unknown.
  if (output.status === 'running') return { type: 'text', value: joinParts([INTERRUPTED, ...streams(output)]) };
  const failed = errorOnFailure && output.status !== 'backgrounded' && output.exitCode !== 0;
  return { type: failed ? 'error-text' : 'text', value: resultText(output, advice, asks) };
}

/** Returns the error, and the command to run instead if the safety engine suggests one. */
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
    nextStep(result, advice),
  ];
}

/** Returns the advice for a command that was ended at its limit, or `''` for any other. */
export function nextStep(result: BashResult, { atLimit, atSilence }: Advice): string {
  if (result.status !== 'timed-out') return '';
  return wasSilent(result) ? atSilence : atLimit;
}

function wasSilent({ notes, timeoutMs }: BashResult): boolean {
  return timeoutMs !== null && notes.includes(innerOf(bash).NativeText.noteOfSilence(timeoutMs));
}

function inBackground(result: BashResult, task: BackgroundTask, advice: Advice): string[] {
  const { pid, logPath } = task;
  // A task that was started in the background has no output yet, so nothing was cut.
  const moved = result.truncation.stdout !== null || result.truncation.stderr !== null;
  if (!moved) {
    return [
      `<pid>${pid}</pid>`,
      `<output_file>${logPath}</output_file>`,
      `<reminder>To stop: ${advice.stop(task, result.confinement)}</reminder>`,
    ];
  }
  const limit = result.timeoutMs === null ? '' : ` after ${result.timeoutMs / 1000}s timeout`;
  return [
    `[Command backgrounded${limit} (pid ${pid}). Partial output:`,
    ...streams(result),
    `Full output: ${logPath}`,
    `${advice.manage(task, result.confinement)}]`,
  ];
}

/** Returns how the command ended, or `''` for a plain success and for a command in the background. */
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

/** Returns both streams, each under its name. */
export function streams({ stdout, stderr }: { stdout: string; stderr: string }): string[] {
  if (stdout === '' && stderr === '') return ['(no output)'];
  return [stream('stdout', stdout), stream('stderr', stderr)];
}

function stream(name: string, text: string): string {
  return text === '' ? '' : `${name}:\n${withoutLastNewline(text)}`;
}
