import { BashError, type BashOptions } from 'agent-bash';
import { DECIDED } from '../../core/ledger.ts';
import { visible } from '../../core/visible.ts';
import { withAccess } from '../call/access.ts';
import { resolveOptions } from '../call/answer.ts';
import { closeDrafts, forgetLost } from '../call/draft.ts';
import { intercept, interceptRules } from '../call/intercept.ts';
import { rememberSignal } from '../call/interruption.ts';
import { approvedNotes, judge, nothingRan } from '../call/judge.ts';
import { describeDraft, describePlace, describeReach } from '../instructions.ts';
import { checkToolOptions } from '../options.ts';
import { changedPart, denialPart, joinParts, stalePart, withSuggestion } from '../parts.ts';
import { contextSchema } from '../schema.ts';
import { withSession } from '../session.ts';
import { callFolder, rememberSetup, runOptions, setupFor, type ToolSetup, toolFolder } from '../setup.ts';
import type { BashToolExecutionOptions, BashToolModelOutput, BashToolOptions } from '../types.ts';
import { keystrokes } from './keys.ts';
import { COLS, ignoredFields, inputSchemaOf, LONGEST_WAIT_MS, ROWS, readInput, WAIT_MS } from './schema.ts';
import { appears, type Terminal, Terminals, type Until } from './terminals.ts';
import type {
  TerminalEnd,
  TerminalReason,
  TerminalState,
  TerminalTool,
  TerminalToolInput,
  TerminalToolOutput,
  TerminalView,
} from './types.ts';

/** Text for system prompts: when and how to use the terminal tool. */
export const TERMINAL_INSTRUCTIONS = `Use the terminal tool for programs that want a terminal: REPLs, debuggers, editors, pagers, installers that ask, programs with menus. For all else use the bash tool: it gives exit codes and whole output.
Start a program, look at its screen, and answer it with send: text for what is typed, keys for Enter, arrows, Ctrl-C and the like. Each call shows the screen that it has led to. Where that takes a while, wait for the text that you expect.
Before you type, read what the screen asks for. Stop a terminal when you no longer need it.`;

/** Returns the tool's description: its purpose, its answers and its limits. */
export function describeTerminal({ cwd, reach = '' }: { cwd: string; reach?: string }): string {
  return `Runs programs in terminals and shows their screens: for REPLs, debuggers, editors, pagers, installers that ask, programs with menus.
start runs a command with bash -c in a new terminal, 80 columns by 24 rows unless told otherwise, and names it (t1, t2 …). send types text, pastes, and presses keys; a line end in text is Enter. start and send come back with the screen when it has settled, 3 s later at most.
wait comes back when text or a pattern is on the screen, when nothing was written for idle_ms, or when the program has ended, and after 10 s at most unless timeout_ms says otherwise. read shows the screen as it is. With changed only the rows that differ from what you saw last are shown.
A program runs until it ends, or until stop. What has scrolled off a screen is gone: for long output, use more rows, a pager, or a file.
Several terminals may run at once; list shows them.
${reach === '' ? '' : `${reach}\n`}<pwd>${cwd}</pwd>`;
}

/** Characters of a screen that a model is shown at most: 200 rows of 80. */
const MOST_CHARACTERS = 16_000;
/** Characters of a command or a title at most. */
const MOST_OF_A_NAME = 100;

/** Returns the model's text for any output of the tool. `asks`: whether the model may ask for access. */
export function formatTerminal(output: TerminalToolOutput, asks = false, cwd = process.cwd()): BashToolModelOutput {
  if ('error' in output) {
    const suggestion = output.findings?.find(({ message }) => message === output.error)?.suggestion;
    return { type: 'error-text', value: withSuggestion(output.error, suggestion) };
  }
  return { type: 'text', value: 'terminals' in output ? list(output.terminals) : view(output, asks, cwd) };
}

/** Returns how a program ended, in a few words. */
export function ending({ status, exitCode, signal }: TerminalEnd): string {
  switch (status) {
    case 'exited':
      return `exit code ${exitCode}`;
    case 'signaled':
      return `killed: ${signal ?? `exit code ${exitCode}`}`;
    case 'timed-out':
      return 'it reached its time limit';
    case 'aborted':
      return 'it was stopped';
    case 'lost':
      return 'it is lost';
  }
}

function list(terminals: TerminalState[]): string {
  if (terminals.length === 0) return '[no terminals]';
  return terminals.map((state) => `[${subject(state)}]`).join('\n');
}

function subject({ id, command, end }: TerminalState): string {
  return `terminal ${id} ${end ? `has ended, ${ending(end)}` : 'is running'}: ${named(command)}`;
}

function view(seen: TerminalView, asks: boolean, cwd: string): string {
  return joinParts([
    `[${subject(seen)}]`,
    seen.changed ? changes(seen.changed) : whole(seen.lines),
    seen.end ? '' : `[${place(seen)}]`,
    changedPart(seen, cwd, false),
    stalePart(seen.stale, cwd),
    denialPart(seen.confinement, asks),
    seen.notes.map((note) => `[${note}]`).join('\n'),
  ]);
}

function whole(lines: string[]): string {
  const text = lines.map(clean);
  return text.length === 0 ? '(the screen is empty)' : fitting(text);
}

function changes(changed: { row: number; text: string }[]): string {
  if (changed.length === 0) return '(nothing has changed)';
  const width = `${changed.at(-1)?.row ?? 0}`.length + 1;
  return fitting(changed.map(({ row, text }) => `${`${row + 1}`.padStart(width)}| ${clean(text)}`.trimEnd()));
}

/** Returns the last rows that fit, because programs prompt there. */
function fitting(rows: string[]): string {
  let left = MOST_CHARACTERS;
  const first = rows.findLastIndex((row) => {
    left -= row.length + 1;
    return left < 0;
  });
  if (first < 0) return rows.join('\n');
  const kept = rows.slice(first + 1);
  // A single row may be too long, because a cell can hold any number of combining marks.
  if (kept.length === 0) kept.push((rows.at(-1) ?? '').slice(0, MOST_CHARACTERS));
  return [`(${rows.length - kept.length} rows above are left out)`, ...kept].join('\n');
}

/**
 * Returns the cursor's place and the program's title as one line. Rows and columns count from 1. A cursor behind a full
 * row counts as on its last column.
 */
function place({ cursor, cols, rows, title, alternate }: TerminalView): string {
  const parts = [`cursor: row ${cursor.row + 1}, column ${Math.min(cursor.col + 1, cols)} of ${rows} × ${cols}`];
  if (title !== '') parts.push(`title: ${named(title)}`);
  if (alternate) parts.push('the program uses the whole screen');
  return parts.join('; ');
}

/** A title is arbitrary text and must stay on one line. */
function named(text: string): string {
  const line = visible(text).replace(/\s+/g, ' ').trim();
  return line.length > MOST_OF_A_NAME ? `${line.slice(0, MOST_OF_A_NAME)}…` : line;
}

function clean(row: string): string {
  return row.replace(/\p{Cc}/gu, ' ');
}

const NOT_THERE = 'there are no terminals in the sandbox that commands run in';
/** Time without a change after which a screen has settled, in ms. `SETTLE_MS` bounds the wait. */
const QUIET_MS = 200;
const SETTLE_MS = 3_000;
/** Time to wait for a program's first output, and for its first answer to typed text, in ms. */
const FIRST_OUTPUT_MS = 2_000;
const ANSWER_MS = 1_000;

/**
 * Creates a tool that gives a model terminals, for ai 6 and ai 7: `tools: { terminal: createTerminalTool() }`. It
 * starts programs in pseudo-terminals, types text, presses named keys and reads the screen; see `TerminalToolInput`. It
 * never throws.
 *
 * These options of `bash()` apply to each terminal: `cwd`, `env`, `inheritEnv`, `safety`, `shell`, `prefix`,
 * `snapshot`, `limits`, `confine`, `draft`, `receipt`, `undo`, `args` and `timeoutMs`, which has no default here: a
 * terminal runs until its program ends. This tool has no `undo_run`, `draft_changes` and `draft_commit`: they are for
 * the host. A `session` gives its directory and its options, but not its state. `perCall`, `onBeforeRun`, the
 * interceptor and `onAccess` run before each start. `description` replaces the default description. These options have
 * no effect: `mode`, `idleTimeoutMs`, `onTimeout`, `registry`, `stdin`, `merge`, `sanitize`, `truncate`, `spill`,
 * `warm`, `run`, `terminal`, `errorOnFailure`, `updateIntervalMs`, `onAfterRun`, and `onPrompt`, because the model
 * itself answers prompts.
 *
 * Terminals run on this machine only. With a `sandbox`, or in a call with an `experimental_sandbox`, a start is `{
 * error }` with `ERR_BASH_UNSUPPORTED`.
 *
 * A tool keeps its own terminals: at most 8 that run and the last 8 that ended. Every caller of the tool sees them, so
 * create one tool per conversation. They do not keep the process alive, and they end with it or with `close()`.
 * Throws `ERR_BASH_INVALID_ARG` for an interceptor with an invalid pattern, for a hook that is not a function, and for
 * a value that is not a session.
 */
export function createTerminalTool(options: BashToolOptions = {}): TerminalTool {
  checkToolOptions('createTerminalTool', options);
  const setup = setupFor(options);
  interceptRules(options);
  const asks = options.onAccess !== undefined;
  const terminals = new Terminals();
  const close = async () => {
    await terminals.close();
    await closeDrafts(setup.owner);
    setup.owner.end();
  };
  const tool: TerminalTool = {
    description: description(withSession({ ...options, cwd: setup.folder })),
    inputSchema: inputSchemaOf(asks),
    contextSchema,
    onInputAvailable: rememberSignal,
    async execute(input, call = { toolCallId: '' }) {
      // The SDK validates too, but not every caller is the SDK.
      const read = readInput(input);
      if ('issues' in read) {
        return { error: read.issues.map(({ message }) => message).join('; '), code: 'ERR_BASH_INVALID_ARG' };
      }
      try {
        return await answer(terminals, read.value, setup, call);
      } catch (error) {
        return nothingRan(error, 'ERR_BASH_SPAWN');
      }
    },
    toModelOutput: ({ output }) => formatTerminal(output, asks, setup.folder),
    close,
    [Symbol.asyncDispose]: close,
  };
  return rememberSetup(tool, setup);
}

async function answer(
  terminals: Terminals,
  input: TerminalToolInput,
  setup: ToolSetup,
  call: BashToolExecutionOptions,
): Promise<TerminalToolOutput> {
  const { action, id, changed } = input;
  const { abortSignal: signal } = call;
  if (action === 'list') return { terminals: terminals.list() };
  if (signal?.aborted) return { error: 'the call was interrupted before anything was done', code: 'ABORT_ERR' };
  const notes = ignoredFields(input, setup.options.onAccess !== undefined);
  if (action === 'start') return await start(terminals, input, setup, call, notes);
  const terminal = terminals.get(id);
  let reason: TerminalReason = 'now';
  if (action === 'send') reason = await send(terminal, input, signal, notes);
  else if (action === 'wait') reason = await wait(terminal, input, signal, notes);
  else if (action === 'resize') {
    checkRunning(terminal, 'resized');
    terminal.resize(input.cols, input.rows);
    reason = await settled(terminal, signal, notes);
  } else if (action === 'stop') {
    await terminal.stop();
    reason = 'ended';
  }
  return terminal.view(reason, changed ?? false, notes);
}

async function start(
  terminals: Terminals,
  input: TerminalToolInput,
  setup: ToolSetup,
  call: BashToolExecutionOptions,
  notes: string[],
): Promise<TerminalToolOutput> {
  const { abortSignal: signal } = call;
  const asked = input.command as string;
  const options = await resolveOptions(setup, call, [{ command: asked }]);
  if ('error' in options) return options;
  // A host with a sandbox does not want commands to run on its own machine.
  if (options.sandbox !== undefined) return { error: NOT_THERE, code: 'ERR_BASH_UNSUPPORTED' };
  let command: string;
  try {
    command = (await options.onBeforeRun?.({ command: asked }))?.command ?? asked;
  } catch (error) {
    return nothingRan(error, 'ERR_BASH_BLOCKED');
  }
  const suggested = intercept(command, options);
  if (suggested) return suggested;
  const allowed = await withAccess(options, command, input, call.toolCallId);
  const given = { ...terminalOptions(allowed), cwd: callFolder(toolFolder(options), input.cwd) };
  // A session reports its warnings only at its end.
  const judged = judge(command, given);
  notes.push(...(options[DECIDED] === undefined ? judged : approvedNotes(judged)));
  const beginning = { command, options: given, cols: input.cols ?? COLS, rows: input.rows ?? ROWS };
  const terminal = await terminals.start(beginning, signal).catch(async (error) => {
    await forgetLost(options, error);
    throw error;
  });
  const reason = await settled(terminal, signal, notes, { outputs: 0, withinMs: FIRST_OUTPUT_MS });
  // The model never receives this terminal's id.
  if (reason === 'interrupted') await terminal.stop();
  return terminal.view(reason, input.changed ?? false, [...new Set(notes)]);
}

async function send(
  terminal: Terminal,
  input: TerminalToolInput,
  signal: AbortSignal | undefined,
  notes: string[],
): Promise<TerminalReason> {
  checkRunning(terminal, 'typed');
  const text = keystrokes(input, terminal.modes);
  const { outputs } = terminal;
  if (!(await terminal.type(text, signal))) notes.push('the program has not read all of it yet');
  return await settled(terminal, signal, notes, { outputs, withinMs: ANSWER_MS });
}

async function wait(
  terminal: Terminal,
  { text, pattern, idle_ms, timeout_ms }: TerminalToolInput,
  signal: AbortSignal | undefined,
  notes: string[],
): Promise<TerminalReason> {
  const timeoutMs = Math.min(Math.max(Math.round(timeout_ms ?? WAIT_MS), 1), LONGEST_WAIT_MS);
  const reason = await terminal.until({ appears: appears(text, pattern), idleMs: idle_ms ?? null, timeoutMs, signal });
  const sought = text ?? pattern;
  if (reason === 'interrupted') notes.push(INTERRUPTED);
  else if (sought != null && reason !== 'appeared') {
    notes.push(
      `${JSON.stringify(sought.slice(0, 100))} is not on the screen${reason === 'timeout' ? after(timeoutMs) : ''}`,
    );
  } else if (reason === 'timeout') notes.push(`the program is still running${after(timeoutMs)}`);
  return reason;
}

const INTERRUPTED = 'the call was interrupted';
const after = (ms: number) => ` after ${ms / 1000} s`;

/** Waits until the screen has settled. */
async function settled(
  terminal: Terminal,
  signal: AbortSignal | undefined,
  notes: string[],
  after?: Until['after'],
): Promise<TerminalReason> {
  const reason = await terminal.until({ idleMs: QUIET_MS, timeoutMs: SETTLE_MS, signal, ...(after && { after }) });
  if (reason === 'interrupted') notes.push(INTERRUPTED);
  if (reason === 'timeout') notes.push('the screen was still changing: this is how it looked');
  return reason === 'idle' ? 'settled' : reason;
}

function checkRunning(terminal: Terminal, done: string): void {
  const { id, end } = terminal.state();
  if (end === null) return;
  const message = `terminal ${id} has ended, ${ending(end)}: nothing was ${done}. read shows its last screen`;
  throw new BashError('ERR_BASH_CLOSED', message);
}

/** Returns the options that a terminal takes. */
function terminalOptions(options: BashToolOptions): BashOptions {
  const { mode, onTimeout, registry, stdin, merge, sanitize, truncate, spill, warm, ...others } = runOptions(options);
  const { onPrompt, ...rest } = others;
  return rest;
}

function description(options: BashToolOptions): string {
  const cwd = toolFolder(options);
  if (typeof options.description === 'function') return options.description({ cwd });
  const reach = [describePlace(options), describeDraft(options, false) || describeReach(options)]
    .filter((sentence) => sentence !== '')
    .join('\n');
  return options.description ?? describeTerminal({ cwd, reach });
}
