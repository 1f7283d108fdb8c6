import { type BackgroundCheck, type BackgroundTask, type BashResult, bash, type Confinement } from 'agent-bash';
import { foreignWords } from '../../core/foreign.ts';
import { innerOf } from '../../core/inner.ts';
import {
  changedPart,
  denialPart,
  evidencePart,
  formatCommitted,
  formatUndone,
  joinParts,
  reusedPart,
  stalePart,
  withoutLastNewline,
  withSuggestion,
} from '../parts.ts';
import { LONGEST_LIMIT_MS, modeLimit } from '../schema.ts';
import type { BashToolCheck, BashToolError, BashToolModelOutput, BashToolOutput, BashToolWait } from '../types.ts';

/** Advice to a model about a slow command. It depends on the inputs of the model's tool. */
export interface Advice {
  /** Advice for a command that reached its time limit. */
  readonly atLimit: string;
  /** Advice for a command that was silent for too long. */
  readonly atSilence: string;
  /** The way to stop a task. Its numbers are those outside of a confinement. */
  stop: (task: BackgroundTask, confinement: Confinement | null) => string;
  /** Advice for a command that continues in the background. */
  manage: (task: BackgroundTask, confinement: Confinement | null) => string;
  /** How a command whose result was given again is run all the same, behind a semicolon; or `''`. */
  readonly anew: string;
  /** Rewords a note for this model. */
  note: (note: string, confinement: Confinement | null) => string;
}

/** The inputs of the bash tool that manage background tasks. */
export const MANAGE_BY_INPUT = 'check_pid or kill_pid';

const SILENT =
  'It was the silence that counted, which more time does not change. Have the command print its progress, or';

/** Advice for our own bash tool. */
export const BY_INPUT: Advice = {
  get atLimit() {
    return `To give the command more time, use mode "slow" (${modeLimit('slow')}), a larger timeout_ms (up to ${LONGEST_LIMIT_MS}), or mode "background".`;
  },
  atSilence: `${SILENT} use mode "background".`,
  stop: ({ pid, pgid }, confinement) => (isRenumbered(confinement) ? `kill_pid ${pid}` : `kill -9 -${pgid}`),
  manage: () => `Use ${MANAGE_BY_INPUT} to manage.`,
  anew: '; fresh: true runs it',
  note: (note) => note,
};

/** Advice for tools whose input schema a provider defines: background tasks are managed with commands. */
export function byCommand(atLimit: string): Advice {
  const stop: Advice['stop'] = ({ pgid }, confinement) =>
    isRenumbered(confinement) ? `kill -9 -PGID, with the PGID that ps -eo pgid,args shows` : `kill -9 -${pgid}`;
  return {
    atLimit,
    atSilence: `${SILENT} start it in the background with its output in a file.`,
    stop,
    anew: '',
    manage: (task, confinement) => `To stop: ${stop(task, confinement)}`,
    note: (note, confinement) => {
      const ends = isRenumbered(confinement) ? '; kill with the number that ps shows ends it;' : '; kill ends it;';
      return note.replace(`; ${MANAGE_BY_INPUT} to manage it;`, ends);
    },
  };
}

/** Returns whether commands see processes under other numbers than results name. */
function isRenumbered(confinement: Confinement | null): boolean {
  return confinement?.held.includes('processes') ?? false;
}

/** The facts that a text for a model depends on, besides the output. */
export interface Reading {
  /** The advice. Default: the advice of our own bash tool. */
  advice?: Advice | undefined;
  /** Whether the model may ask for access that a confinement denied. */
  asks?: boolean | undefined;
  /** Whether the model may undo runs. */
  undoes?: boolean | undefined;
  /** Whether the model may recall lines of an output. */
  recalls?: boolean | undefined;
  /** Whether the text of a successful command that wrote only standard output is just this output. */
  bare?: boolean | undefined;
  /** The directory that paths are shown relative to. */
  cwd?: string | undefined;
}

/**
 * Returns the text that the model reads of a check or a kill: the state of the process, its new output, the path of the
 * log, the failures that its exit code hides and the changes once it has ended, and all denials of its confinement so
 * far. The output already contains its truncation notice. Changed paths are shown relative to the directory of the
 * task.
 */
export function formatCheck(check: BackgroundCheck): string {
  return checkText(check, {});
}

/** Returns the text of `formatCheck` for a model that may ask for access, or undo the task. */
export function checkText(check: BashToolCheck, { asks = false, undoes = false }: Pick<Reading, 'asks' | 'undoes'>) {
  const { task, output, newLines, confinement, evidence, view, waited } = check;
  return joinParts([
    `[Process ${task.pid} ${stateOf(task)}${waited ? endOfWait(waited) : ''}.${strangerIn(check)}`,
    output === ''
      ? 'No new output since last check.'
      : `New output since last check (${newLines} lines):\n${withoutLastNewline(view?.text ?? output)}`,
    `Full output: ${task.logPath}]`,
    evidencePart({ evidence }, output, false),
    changedPart(check, task.cwd, undoes),
    stalePart(check.stale, task.cwd),
    denialPart(confinement, asks),
  ]);
}

/** Returns the warning that another process has the port, with a leading blank. */
function strangerIn({ stranger }: BashToolCheck): string {
  if (!stranger) return '';
  return ` But process ${stranger.pid} has the port, which this process did not start: ${foreignWords(stranger.command)}`;
}

/** Returns how a wait ended, behind the state of its process. */
function endOfWait({ end, port, pattern, timeoutMs }: BashToolWait): string {
  const events = (accepts: string, matches: string) =>
    [
      ...(port === null ? [] : [`port ${port} ${accepts} connections`]),
      ...(pattern === null ? [] : [`its new output ${matches} /${pattern}/`]),
    ].join(' or ');
  const missed = events('accepted', 'matched');
  const before = missed === '' ? '' : ` before ${missed}`;
  switch (end) {
    case 'found':
      return `: ${events('accepts', 'matches')}`;
    case 'ended':
      return before;
    case 'timed-out':
      return `: ${timeoutMs / 1_000} s passed${before}`;
    case 'aborted':
      return `: the wait was interrupted${before}`;
  }
}

function stateOf({ state, exitCode, signal }: BackgroundTask): string {
  switch (state) {
    case 'running':
      return 'still running';
    case 'exited':
      return `exited with code ${exitCode}`;
    case 'killed':
      return `was killed: ${signal ?? `exit code ${exitCode}`}`;
    case 'lost':
      return 'was lost';
  }
}

/**
 * Returns the text that the model reads of a result. A blank line separates the parts, and empty parts are left out.
 * The parts are a line on the run whose result was given again, one on how the command ended (not for a plain
 * success), the streams (`(no output)` when both are empty), the exit code unless the first line has it, the failures
 * that it hides, advice after a time limit, the changes of the command, the denials of a confinement, and the notes.
 * The streams already contain their truncation notices. The text of a command that continues in the background gives
 * its pid, its log, and how to check and stop it.
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
  const { advice = BY_INPUT, asks = false, undoes = false, recalls = false, bare = false } = reading;
  const { background } = result;
  const again = reusedPart(result.reused, advice.anew);
  const parts = background ? inBackground(result, background, advice) : ended(result, advice, recalls, bare);
  const cwd = directoryOf(result, reading);
  const changed = [changedPart(result, cwd, undoes), stalePart(result.stale, cwd)];
  return joinParts([again, ...parts, ...changed, denialPart(result.confinement, asks), noteLines(result, advice)]);
}

/** A session's result names the directory in which its next command starts. */
function directoryOf(output: object, { cwd }: Reading): string {
  return 'cwd' in output && typeof output.cwd === 'string' ? output.cwd : (cwd ?? process.cwd());
}

/** Returns the notes, one per line, in brackets. */
export function noteLines({ notes, confinement }: BashResult, { note }: Advice): string {
  const others = notes.filter((each) => !isLoss(each));
  const lines = (text: string) => text.split('\n').map(foreignWords).join('\n');
  return others.map((each) => `[${lines(note(each, confinement))}]`).join('\n');
}

/**
 * Returns the model's text for any output of the tool. With `errorOnFailure` a non-zero exit code makes it an error
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
  if (output.status === 'recalled' || output.status === 'drafted') return { type: 'text', value: output.text };
  if (output.status === 'undone' || output.status === 'committed') {
    const failed = errorOnFailure && output.exitCode !== 0;
    const cwd = directoryOf({}, reading);
    const value = output.status === 'undone' ? formatUndone(output, cwd) : formatCommitted(output, cwd);
    return { type: failed ? 'error-text' : 'text', value };
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

function ended(result: BashResult, advice: Advice, recalls: boolean, bare: boolean): string[] {
  const { view, exitCode, stdout, stderr } = result;
  const isAlone = bare && stdout !== '' && stderr === '';
  // A view has its own labels, and a plain success needs none.
  const shown = view || isAlone ? [withoutLastNewline(view?.text ?? stdout)] : streams(result);
  const head = headline(result);
  const says = exitCode === 0 ? !(view || bare) : exitCode !== null && !head.includes(`exit code ${exitCode}`);
  const proved = evidencePart(result, view?.text ?? stdout, recalls);
  return [head, ...shown, says ? `exit code: ${exitCode}` : '', proved, nextStep(result, advice)];
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
export function headline({ status, exitCode, signal, timeoutMs, notes }: BashResult): string {
  switch (status) {
    case 'exited':
      return exitCode === 0 ? '' : `[command failed: exit code ${exitCode}]`;
    case 'signaled':
      return `[command killed: ${signal ?? `exit code ${exitCode}`}]`;
    case 'timed-out':
      return timeoutMs === null ? '[command timed out]' : `[command timed out after ${timeoutMs / 1000}s]`;
    case 'aborted':
      return INTERRUPTED;
    case 'lost':
      return `[command lost: ${notes.find(isLoss)?.slice(LOSS.length) ?? 'it is not known how it ended'}]`;
    default:
      return '';
  }
}

/** The opening of the note about a command that is lost. */
const LOSS = 'the command is lost: ';

/** Returns whether a note says why a command is lost. Its headline says it, too. */
function isLoss(note: string): boolean {
  return note.startsWith(LOSS);
}

/** Returns both streams, each under its name. */
export function streams({ stdout, stderr }: { stdout: string; stderr: string }): string[] {
  if (stdout === '' && stderr === '') return ['(no output)'];
  return [stream('stdout', stdout), stream('stderr', stderr)];
}

function stream(name: string, text: string): string {
  return text === '' ? '' : `${name}:\n${withoutLastNewline(text)}`;
}
