import { type BashResult, type BashSnapshot, bash, type OutputChunk } from 'agent-bash';
import { onAbort } from '../abort.ts';
import { messageOf } from '../listener.ts';
import { BY_INPUT } from './advice.ts';
import { approvedByPerson } from './approved.ts';
import { type CallPlan, ownTruncate, planCall, toolFolder } from './call-plan.ts';
import { HeadStop } from './head-stop.ts';
import { judgedThere, NO_TASKS, sandboxOf } from './in-sandbox/sandbox.ts';
import { sessionOf } from './in-session.ts';
import { terminalOf } from './in-terminal.ts';
import { describeThere, describeTool } from './instructions.ts';
import { intercept, interceptRules } from './intercept.ts';
import { approvedNotes, approvedOptions, judge } from './judge.ts';
import { applyLineLimits } from './line-limits.ts';
import { live } from './live.ts';
import { adoptedNotes, answerTask, taskQuestion } from './manage.ts';
import { nothingRan } from './nothing-ran.ts';
import { checkIsObject } from './options-object.ts';
import { Readings } from './readings.ts';
import { takeRefusal } from './refused.ts';
import { runnerOf } from './runner.ts';
import { contextSchema, inputSchema, readInput } from './schema.ts';
import { contextOf, keepOptions, type Made, optionsFor, withPlace } from './tool-options.ts';
import type {
  BashTool,
  BashToolError,
  BashToolExecutionOptions,
  BashToolInput,
  BashToolOptions,
  BashToolOutput,
  BashToolSnapshot,
} from './types.ts';

const DEFAULT_UPDATE_INTERVAL_MS = 250;

/**
 * The bash tool of an agent, for ai 6 and ai 7: `tools: { bash: createBashTool() }`.
 *
 * Each call runs one command by `bash()` with these options, or checks or kills a background process. It yields live
 * snapshots and, last, a `BashResult`, a `BackgroundCheck`, or `{ error, code }` when nothing ran; it never throws. The
 * tool's folder is `options.cwd`, resolved now; default `process.cwd()`. Without `registry`, `mode` "background", `check_pid`
 * and `kill_pid` use `defaultRegistry()`, and commands still end at their limit. With `session` the commands run in that, in its folder; with
 * `sandbox`, or the `experimental_sandbox` of a call, there.
 * Throws `ERR_BASH_INVALID_ARG` for an interceptor with a pattern that is none, and for a session, a terminal or a sandbox that is none.
 */
export function createBashTool(options: BashToolOptions = {}): BashTool {
  checkIsObject(options);
  const made: Made = { options, folder: toolFolder(options.cwd) };
  interceptRules(options);
  const readings = new Readings(options, BY_INPUT);
  const tool: BashTool = {
    description: description(withPlace(options, made.folder)),
    inputSchema,
    contextSchema,
    async *execute(input, call = { toolCallId: '' }) {
      const read = await readCall(made, input, call);
      if ('error' in read) {
        yield read;
        return;
      }
      const output = yield* answer(read, input, call);
      readings.keep(output, read);
      yield output;
    },
    toModelOutput: ({ output }) => readings.read(output),
  };
  return keepOptions(tool, made);
}

/** The options that hold for a call, once its input was found right. */
async function readCall(
  made: Made,
  input: BashToolInput,
  call: BashToolExecutionOptions,
): Promise<BashToolOptions | BashToolError> {
  // The SDK validates too, but not every caller is the SDK.
  const read = readInput(input);
  if ('issues' in read) {
    return { error: read.issues.map((issue) => issue.message).join('; '), code: 'ERR_BASH_INVALID_ARG' };
  }
  return await holdOptions(made, call);
}

/** The options that hold for a call of any tool that runs commands as this one does. */
export async function holdOptions(
  made: Made,
  call: BashToolExecutionOptions,
): Promise<BashToolOptions | BashToolError> {
  try {
    const { toolCallId, experimental_sandbox } = call;
    const held = await optionsFor(made, { context: contextOf(call), toolCallId }, experimental_sandbox);
    return approvedByPerson(call) ? approvedOptions(held) : held;
  } catch (error) {
    return nothingRan(error, 'ERR_BASH_INVALID_ARG');
  }
}

/** Does what a valid input asks for, with the options that hold for its call: snapshots, and what came of it. Never throws. */
export async function* answer(
  options: BashToolOptions,
  input: BashToolInput,
  call: BashToolExecutionOptions,
): AsyncGenerator<BashToolSnapshot, BashToolOutput, undefined> {
  const question = taskQuestion(input);
  if (question) {
    if (sandboxOf(options)) return { error: NO_TASKS, code: 'ERR_BASH_UNSUPPORTED' };
    return await answerTask(question, options, call.abortSignal).catch((error) => nothingRan(error, 'ERR_BASH_SPAWN'));
  }
  const asked = input.command as string;
  const refused = takeRefusal(call.toolCallId, asked);
  if (refused) return refused;
  let command: string;
  try {
    command = (await options.onBeforeRun?.({ command: asked }))?.command ?? asked;
  } catch (error) {
    return nothingRan(error, 'ERR_BASH_BLOCKED');
  }
  return yield* runCall(command, options, input, call);
}

/** Runs what was asked for; the caller sees snapshots until the output is there. */
async function* runCall(
  command: string,
  options: BashToolOptions,
  input: BashToolInput,
  call: BashToolExecutionOptions,
): AsyncGenerator<BashToolSnapshot, BashToolOutput, undefined> {
  let output: BashToolOutput;
  try {
    output =
      intercept(command, options) ??
      (yield* runPlan(judged(planCall(command, input, options), options), options, call.abortSignal));
    if ('notes' in output && approvedByPerson(call)) output = { ...output, notes: approvedNotes(output.notes) };
  } catch (error) {
    output = nothingRan(error, 'ERR_BASH_SPAWN');
  }
  try {
    const replaced = await options.onAfterRun?.({ command, result: output });
    return typeof replaced === 'object' && replaced !== null ? replaced : output;
  } catch (error) {
    // What ran has run, and the model has to see what came of it.
    return 'notes' in output
      ? { ...output, notes: [...output.notes, `onAfterRun failed: ${messageOf(error)}`] }
      : output;
  }
}

/** `bash` judges by itself; what takes its place does not. */
function judged(plan: CallPlan, options: BashToolOptions): CallPlan {
  const there = sandboxOf(options) !== undefined;
  if (!there && (options.run === undefined || options.run === bash)) return plan;
  const notes = judge(plan.command, there ? judgedThere(plan.options) : plan.options);
  return { ...plan, notes: [...plan.notes, ...notes] };
}

async function* runPlan(
  plan: CallPlan,
  options: BashToolOptions,
  callSignal: AbortSignal | undefined,
): AsyncGenerator<BashToolSnapshot, BashResult, undefined> {
  const { updateIntervalMs = DEFAULT_UPDATE_INTERVAL_MS } = options;
  const run = runnerOf(options);
  // What a session was made with has its say, too.
  const { signal, onOutput, onSnapshot } = plan.options;
  const abortSignal = signal && callSignal ? AbortSignal.any([signal, callSignal]) : (signal ?? callSignal);
  // A signal of our own: the command is also ended when its last wanted line is there or nobody listens any more.
  const ending = new AbortController();
  const abort = () => ending.abort(abortSignal?.reason);
  const first = plan.limits[0];
  const headStop = first?.keep === 'head' ? new HeadStop(first.lines, () => ending.abort()) : null;
  ending.signal.addEventListener('abort', () => headStop?.close(), { once: true });
  const forget = abortSignal && onAbort(abortSignal, abort);
  if (abortSignal?.aborted) abort();
  let settled = false;
  let shown: BashSnapshot | null = null;
  try {
    const raw = yield* live<BashToolSnapshot, BashResult>(async (push) => {
      try {
        return await run(plan.command, {
          ...plan.options,
          signal: ending.signal,
          ...(headStop && {
            onOutput: async (chunk: OutputChunk) => {
              await onOutput?.(chunk);
              await headStop.onOutput(chunk);
            },
          }),
          ...(updateIntervalMs > 0 && {
            onSnapshot: (snapshot: BashSnapshot) => {
              // Each one is an event for every listener of the stream: only those that show something new.
              if (shown?.stdout !== snapshot.stdout || shown.stderr !== snapshot.stderr) push(toSnapshot(snapshot));
              shown = snapshot;
              return onSnapshot?.(snapshot);
            },
            snapshotIntervalMs: Math.min(Math.max(Math.round(updateIntervalMs), 10), 60_000),
          }),
        });
      } finally {
        settled = true;
      }
    });
    const result = headStop?.outcome(raw, abortSignal?.aborted ?? false) ?? raw;
    const adopted = adoptedNotes(result, plan.options);
    const notes = [...result.notes, ...plan.notes, ...timeoutNote(result, abortSignal), ...adopted];
    return applyLineLimits({ ...result, notes: [...new Set(notes)] }, plan.limits);
  } finally {
    forget?.();
    headStop?.close();
    if (!settled) ending.abort();
  }
}

function toSnapshot({ stdout, stderr, pid, durationMs }: BashSnapshot): BashToolSnapshot {
  return { status: 'running', stdout, stderr, exitCode: null, pid, durationMs };
}

/** A limit of the SDK ends a call by the same signal as a person does; only its reason tells. */
function timeoutNote(result: BashResult, signal: AbortSignal | undefined): string[] {
  const byLimit = result.status === 'aborted' && (signal?.reason as Error | undefined)?.name === 'TimeoutError';
  return byLimit ? ['the time limit of the tool call was reached'] : [];
}

function description(options: BashToolOptions): string {
  const sandbox = sandboxOf(options);
  const cwd = sandbox ? (options.cwd ?? '') : toolFolder(options.cwd);
  if (typeof options.description === 'function') return options.description({ cwd });
  if (options.description !== undefined) return options.description;
  const { mode, timeoutMs, spill, registry, onTimeout, perCall } = options;
  if (sandbox) {
    const truncate = ownTruncate(options);
    return describeThere({ sandbox, cwd: options.cwd, mode, timeoutMs, truncate, spill: spill !== false });
  }
  const terminal = terminalOf(options) !== undefined;
  const moves = !terminal && (onTimeout === 'background' || (registry !== undefined && onTimeout !== 'kill'));
  const lasts = sessionOf(options) !== undefined || (perCall === undefined ? false : null);
  return describeTool({
    cwd,
    mode,
    timeoutMs,
    moves,
    lasts,
    terminal,
    truncate: ownTruncate(options),
    spill: spill !== false,
  });
}
