import { BashError, type BashOptions } from 'agent-bash';
import { approvedByPerson } from '../approved.ts';
import { callFolder, runOptions, toolFolder } from '../call-plan.ts';
import { withSession } from '../in-session.ts';
import { intercept, interceptRules } from '../intercept.ts';
import { approvedNotes, approvedOptions, judge } from '../judge.ts';
import { nothingRan } from '../nothing-ran.ts';
import { checkIsObject } from '../options-object.ts';
import { takeRefusal } from '../refused.ts';
import { contextSchema } from '../schema.ts';
import { contextOf, keepOptions, type Made, optionsFor } from '../tool-options.ts';
import type { BashToolExecutionOptions, BashToolOptions } from '../types.ts';
import { appears } from './appears.ts';
import { describeTerminal } from './instructions.ts';
import { ignoredFields, inputSchema, readInput } from './schema.ts';
import { ending, formatTerminal } from './screens.ts';
import type { Terminal } from './terminal.ts';
import { Terminals } from './terminals.ts';
import { typed } from './typed.ts';
import type { TerminalReason, TerminalTool, TerminalToolInput, TerminalToolOutput } from './types.ts';
import type { Until } from './wait.ts';

const NOT_THERE = 'there are no terminals in the sandbox that commands run in';
const COLS = 80;
const ROWS = 24;
/** A screen on which nothing has changed for that long, in ms, has settled; it is looked at after `SETTLE_MS` in any case. */
const QUIET_MS = 200;
const SETTLE_MS = 3_000;
/** What a program may take, in ms, to its first output, and to the first that answers what was typed, before its screen is looked at. */
const FIRST_OUTPUT_MS = 2_000;
const ANSWER_MS = 1_000;
const WAIT_MS = 10_000;
const LONGEST_WAIT_MS = 300_000;

/**
 * Terminals for a model, for ai 6 and ai 7: `tools: { terminal: createTerminalTool() }`. It starts programs in pseudo-terminals, types,
 * presses keys by their names, and reads the screen; see `TerminalToolInput`. It never throws.
 *
 * Of the options those of `bash()` hold for each terminal: `cwd`, `env`, `inheritEnv`, `safety`, `shell`, `prefix`, `snapshot`, `limits`, `args`,
 * and `timeoutMs`, which has no default here: a terminal runs until its program ends. A `session` gives its folder and what it was made with, not
 * its state. `perCall`, `onBeforeRun` and the interceptor are asked before each start, and `description` is in place of the one written here.
 * Without effect are `mode`, `onTimeout`, `registry`, `stdin`, `merge`, `sanitize`, `truncate`, `spill`, `warm`, `run`, `terminal`, `errorOnFailure`, `updateIntervalMs`,
 * `onAfterRun`, and `onPrompt`: it is the model that is waited for.
 *
 * Terminals are of this machine alone: with a `sandbox`, or in a call with an `experimental_sandbox`, a start is `{ error }`, `ERR_BASH_UNSUPPORTED`.
 *
 * A tool keeps its own terminals, at most 8 that run and the last 8 that have ended, for whoever calls it: make one for each conversation. They
 * do not keep the process alive, and end with it, or by `close()`.
 * Throws `ERR_BASH_INVALID_ARG` for an interceptor with a pattern that is none, and for a session that is none.
 */
export function createTerminalTool(options: BashToolOptions = {}): TerminalTool {
  checkIsObject(options);
  const made: Made = { options, folder: toolFolder(options.cwd) };
  interceptRules(options);
  const terminals = new Terminals();
  const close = () => terminals.close();
  const tool: TerminalTool = {
    description: description(withSession({ ...options, cwd: made.folder })),
    inputSchema,
    contextSchema,
    async execute(input, call = { toolCallId: '' }) {
      // The SDK validates too, but not every caller is the SDK.
      const read = readInput(input);
      if ('issues' in read) {
        return { error: read.issues.map(({ message }) => message).join('; '), code: 'ERR_BASH_INVALID_ARG' };
      }
      try {
        return await answer(terminals, read.value, made, call);
      } catch (error) {
        return nothingRan(error, 'ERR_BASH_SPAWN');
      }
    },
    toModelOutput: ({ output }) => formatTerminal(output),
    close,
    [Symbol.asyncDispose]: close,
  };
  return keepOptions(tool, made);
}

async function answer(
  terminals: Terminals,
  input: TerminalToolInput,
  made: Made,
  call: BashToolExecutionOptions,
): Promise<TerminalToolOutput> {
  const { action, id, changed } = input;
  const { abortSignal: signal } = call;
  if (action === 'list') return { terminals: terminals.list() };
  if (signal?.aborted) return { error: 'the call was interrupted before anything was done', code: 'ABORT_ERR' };
  const ignored = ignoredFields(input);
  const notes = ignored.length > 0 ? [`ignored input: ${ignored.join(', ')}`] : [];
  if (action === 'start') return await start(terminals, input, made, call, notes);
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
  made: Made,
  call: BashToolExecutionOptions,
  notes: string[],
): Promise<TerminalToolOutput> {
  const { abortSignal: signal, toolCallId } = call;
  const asked = input.command as string;
  const refused = takeRefusal(toolCallId, asked);
  if (refused) return refused;
  const approved = approvedByPerson(call);
  let options: BashToolOptions;
  try {
    const held = await optionsFor(made, { context: contextOf(call), toolCallId }, call.experimental_sandbox);
    options = approved ? approvedOptions(held) : held;
  } catch (error) {
    return nothingRan(error, 'ERR_BASH_INVALID_ARG');
  }
  // Nobody who has a sandbox wants it to run here instead.
  if (options.sandbox !== undefined) return { error: NOT_THERE, code: 'ERR_BASH_UNSUPPORTED' };
  let command: string;
  try {
    command = (await options.onBeforeRun?.({ command: asked }))?.command ?? asked;
  } catch (error) {
    return nothingRan(error, 'ERR_BASH_BLOCKED');
  }
  const suggested = intercept(command, options);
  if (suggested) return suggested;
  const given = { ...terminalOptions(options), cwd: callFolder(toolFolder(options.cwd), input.cwd) };
  // A session tells of what it was warned at its end only.
  const judged = judge(command, given);
  notes.push(...(approved ? approvedNotes(judged) : judged));
  const beginning = { command, options: given, cols: input.cols ?? COLS, rows: input.rows ?? ROWS };
  const terminal = await terminals.start(beginning, signal);
  const reason = await settled(terminal, signal, notes, { outputs: 0, withinMs: FIRST_OUTPUT_MS });
  // The model will never hear of its id.
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
  const text = typed(input, terminal.modes);
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

/** Waits until the screen is worth a look. */
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

/** What of the options a terminal takes. */
function terminalOptions(options: BashToolOptions): BashOptions {
  const { mode, onTimeout, registry, stdin, merge, sanitize, truncate, spill, warm, ...others } = runOptions(options);
  const { onPrompt, ...rest } = others;
  return rest;
}

function description(options: BashToolOptions): string {
  const cwd = toolFolder(options.cwd);
  if (typeof options.description === 'function') return options.description({ cwd });
  return options.description ?? describeTerminal({ cwd });
}
