import { type BackgroundTask, type BashResult, bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import type { BashToolError, BashToolModelOutput, BashToolOutput } from '../types.ts';
import { type Advice, BY_INPUT } from './advice.ts';
import { changedPart, formatUndone } from './changes.ts';
import { denialPart } from './denials.ts';
import { checkText } from './format-check.ts';
import { joinParts, withoutLastNewline, withSuggestion } from './parts.ts';
import type { Reading } from './reading.ts';

/**
 * Returns the text that the model reads of a result. A blank line separates the parts, and empty parts are left out.
 * The parts are a line on how the command ended (not for a plain success), the streams (`(no output)` when both are
 * empty), the exit code, advice after a time limit, what the command changed, the denials of a confinement, and the
 * notes. The streams already contain their truncation notices. The text of a command that continues in the background
 * gives its pid, its log, and how to check and stop it.
 *
 * A view (option `reduce`) stands for the streams, and `exit code: 0` is left out beside it.
 *
 * @param options.cwd the directory that changed paths are shown relative to; default `process.cwd()`, of a session's
 * result its own.
 */
export function formatResult(result: BashResult, options: { cwd?: string | undefined } = {}): string {
  return resultText(result, { cwd: options.cwd });
}

function resultText(result: BashResult, reading: Reading): string {
  const { advice = BY_INPUT, asks = false, undoes = false, bare = false } = reading;
  const { background } = result;
  const parts = background ? inBackground(result, background, advice) : ended(result, advice, bare);
  const changed = changedPart(result, directoryOf(result, reading), undoes);
  return joinParts([...parts, changed, denialPart(result.confinement, asks), noteLines(result, advice)]);
}

/** A session's result says where its next command starts. */
function directoryOf(output: object, { cwd }: Reading): string {
  return 'cwd' in output && typeof output.cwd === 'string' ? output.cwd : (cwd ?? process.cwd());
}

/** Returns the notes, one per line, in brackets. */
export function noteLines({ notes, confinement }: BashResult, { note }: Advice): string {
  return notes.map((each) => `[${note(each, confinement)}]`).join('\n');
}

/**
 * Returns what the model reads of any output of the tool. With `errorOnFailure` a non-zero exit code makes it an error
 * text.
 */
export function formatOutput(
  output: BashToolOutput,
  errorOnFailure: boolean,
  reading: Reading = {},
): BashToolModelOutput {
  if ('error' in output) return { type: 'error-text', value: refusal(output) };
  if ('task' in output) return { type: 'text', value: checkText(output, reading) };
  // A user interface that lost the call keeps the last snapshot and sends it as the result. The command's exit is
  // unknown.
  if (output.status === 'running') return { type: 'text', value: joinParts([INTERRUPTED, ...streams(output)]) };
  if (output.status === 'recalled') return { type: 'text', value: output.text };
  if (output.status === 'undone') {
    const failed = errorOnFailure && output.exitCode !== 0;
    return { type: failed ? 'error-text' : 'text', value: formatUndone(output, directoryOf({}, reading)) };
  }
  const failed = errorOnFailure && output.status !== 'backgrounded' && output.exitCode !== 0;
  return { type: failed ? 'error-text' : 'text', value: resultText(output, reading) };
}

/** Returns the error, and the command to run instead if the safety engine suggests one. */
function refusal({ error, findings = [] }: BashToolError): string {
  const named = findings.find(({ message }) => message === error)?.suggestion;
  return withSuggestion(error, named);
}

const INTERRUPTED = '[command interrupted]';

function ended(result: BashResult, advice: Advice, bare: boolean): string[] {
  const { view, exitCode, stdout, stderr } = result;
  const isAlone = bare && stdout !== '' && stderr === '';
  // A view has its own labels, and a plain success needs none.
  const shown = view || isAlone ? [withoutLastNewline(view?.text ?? stdout)] : streams(result);
  const says = exitCode !== null && (exitCode !== 0 || !(view || bare));
  return [headline(result), ...shown, says ? `exit code: ${exitCode}` : '', nextStep(result, advice)];
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
