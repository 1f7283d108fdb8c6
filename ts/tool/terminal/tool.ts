import { BashError, type BashOptions } from 'agent-bash';
import { withAccess } from '../access.ts';
import { approvedByPerson } from '../approved.ts';
import { callFolder, runOptions, toolFolder } from '../call-plan.ts';
import { withSession } from '../in-session.ts';
import { describeReach } from '../instructions.ts';
import { intercept, interceptRules } from '../intercept/intercept.ts';
import { approvedNotes, approvedOptions, judge } from '../judge.ts';
import { nothingRan } from '../nothing-ran.ts';
import { checkToolOptions } from '../option-names.ts';
import { takeRefusal } from '../refused.ts';
import { contextSchema } from '../schema.ts';
import { contextOf, optionsFor, rememberSetup, setupFor, type ToolSetup } from '../tool-options.ts';
import type { BashToolExecutionOptions, BashToolOptions } from '../types.ts';
import { describeTerminal } from './instructions.ts';
import { keystrokes } from './keystrokes.ts';
import { COLS, ignoredFields, inputSchemaOf, LONGEST_WAIT_MS, ROWS, readInput, WAIT_MS } from './schema.ts';
import { appears } from './screen-search.ts';
import { ending, formatTerminal } from './screens.ts';
import type { Terminal } from './terminal.ts';
import { Terminals } from './terminals.ts';
import type { TerminalReason, TerminalTool, TerminalToolInput, TerminalToolOutput } from './types.ts';
import type { Until } from './wait.ts';

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
 * `snapshot`, `limits`, `confine`, `receipt`, `undo`, `args` and `timeoutMs`, which has no default here: a terminal
 * runs until its program ends. This tool has no `undo_run`: `undo(runId)` is for the host. A `session` gives its
 * directory and its options, but not its state. `perCall`, `onBeforeRun`, the interceptor and `onAccess` run before
 * each start. `description` replaces the default description. These options have no effect: `mode`, `idleTimeoutMs`,
 * `onTimeout`, `registry`, `stdin`, `merge`, `sanitize`, `truncate`, `spill`, `warm`, `run`, `terminal`,
 * `errorOnFailure`, `updateIntervalMs`, `onAfterRun`, and `onPrompt`, because the model itself answers prompts.
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
    setup.owner.end();
  };
  const tool: TerminalTool = {
    description: description(withSession({ ...options, cwd: setup.folder })),
    inputSchema: inputSchemaOf(asks),
    contextSchema,
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
  const ignored = ignoredFields(input, setup.options.onAccess !== undefined);
  const notes = ignored.length > 0 ? [`ignored input: ${ignored.join(', ')}`] : [];
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
  const { abortSignal: signal, toolCallId } = call;
  const asked = input.command as string;
  const refused = takeRefusal(toolCallId, asked);
  if (refused) return refused;
  const approved = approvedByPerson(call);
  let options: BashToolOptions;
  try {
    const held = await optionsFor(setup, { context: contextOf(call), toolCallId }, call.experimental_sandbox);
    options = approved ? approvedOptions(held) : held;
  } catch (error) {
    return nothingRan(error, 'ERR_BASH_INVALID_ARG');
  }
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
  const given = { ...terminalOptions(allowed), cwd: callFolder(toolFolder(options.cwd), input.cwd) };
  // A session reports its warnings only at its end.
  const judged = judge(command, given);
  notes.push(...(approved ? approvedNotes(judged) : judged));
  const beginning = { command, options: given, cols: input.cols ?? COLS, rows: input.rows ?? ROWS };
  const terminal = await terminals.start(beginning, signal);
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
  const cwd = toolFolder(options.cwd);
  if (typeof options.description === 'function') return options.description({ cwd });
  const { confine, onAccess } = options;
  return options.description ?? describeTerminal({ cwd, reach: describeReach({ confine, onAccess }) });
}
