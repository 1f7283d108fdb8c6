import { type BashError, type BashResult, type BashSnapshot, bash, type OutputChunk } from 'agent-bash';
import { approvedByPerson } from './approved.ts';
import { type CallPlan, ownTruncate, planCall, toolFolder } from './call-plan.ts';
import { formatOutput } from './format.ts';
import { HeadStop } from './head-stop.ts';
import { runnerOf, sessionOf, withSession } from './in-session.ts';
import { describeTool } from './instructions.ts';
import { intercept, interceptRules } from './intercept.ts';
import { approvedNotes, approvedOptions, judge } from './judge.ts';
import { applyLineLimits } from './line-limits.ts';
import { live } from './live.ts';
import { adoptedNotes, answerTask, registryOf, taskQuestion } from './manage.ts';
import { takeRefusal } from './refused.ts';
import { contextSchema, inputSchema, readInput } from './schema.ts';
import { isNotified } from './told.ts';
import { contextOf, keepOptions, optionsFor } from './tool-options.ts';
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
 * and `kill_pid` use `defaultRegistry()`, and commands still end at their limit. With `session` the commands run in that, in its folder.
 * Throws `ERR_BASH_INVALID_ARG` for an interceptor with a pattern that is none, and for a session that is none.
 */
export function createBashTool(options: BashToolOptions = {}): BashTool {
  const cwd = toolFolder(options.cwd);
  interceptRules(options);
  // `perCall` may set these for one call, and toModelOutput sees no more of a call than its output.
  const reading = new WeakMap<BashToolOutput, Reading>();
  const tool: BashTool = {
    description: description(withSession({ ...options, cwd })),
    inputSchema,
    contextSchema,
    async *execute(input, call = { toolCallId: '' }) {
      const read = await readCall({ ...options, cwd }, input, call);
      if ('error' in read) {
        yield read;
        return;
      }
      const output = yield* answer(read, input, call);
      reading.set(output, { errorOnFailure: read.errorOnFailure ?? false, poll: !endIsTold(output, read) });
      yield output;
    },
    toModelOutput: ({ output }) => {
      const { errorOnFailure = options.errorOnFailure ?? false, poll = true } = reading.get(output) ?? {};
      const read = formatOutput(output, errorOnFailure);
      return poll ? read : { ...read, value: `${read.value}\n\n[${NO_NEED_TO_POLL}]` };
    },
  };
  return keepOptions(tool, { ...options, cwd });
}

/** How the output of a call is read. */
interface Reading {
  errorOnFailure: boolean;
  /** Whether the model has to look for the end of a task itself. */
  poll: boolean;
}

const NO_NEED_TO_POLL = 'you are told when it ends: there is no need to poll';

/** Whether the output is about a task whose end the model is told of by itself. */
function endIsTold(output: BashToolOutput, options: BashToolOptions): boolean {
  const task = 'task' in output ? output.task : 'background' in output ? output.background : null;
  return task?.state === 'running' && isNotified(() => registryOf(options));
}

/** The options that hold for a call, once its input was found right. */
async function readCall(
  options: BashToolOptions,
  input: BashToolInput,
  call: BashToolExecutionOptions,
): Promise<BashToolOptions | BashToolError> {
  // The SDK validates too, but not every caller is the SDK.
  const read = readInput(input);
  if ('issues' in read) {
    return { error: read.issues.map((issue) => issue.message).join('; '), code: 'ERR_BASH_INVALID_ARG' };
  }
  try {
    const held = await optionsFor(options, { context: contextOf(call), toolCallId: call.toolCallId });
    return approvedByPerson(call) ? approvedOptions(held) : held;
  } catch (error) {
    return nothingRan(error, 'ERR_BASH_INVALID_ARG');
  }
}

async function* answer(
  options: BashToolOptions,
  input: BashToolInput,
  call: BashToolExecutionOptions,
): AsyncGenerator<BashToolSnapshot, BashToolOutput, undefined> {
  const question = taskQuestion(input);
  if (question) {
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
function judged(plan: CallPlan, { run }: BashToolOptions): CallPlan {
  if (run === undefined || run === bash) return plan;
  return { ...plan, notes: [...plan.notes, ...judge(plan.command, plan.options)] };
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
  abortSignal?.addEventListener('abort', abort, { once: true });
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
    abortSignal?.removeEventListener('abort', abort);
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
  const cwd = toolFolder(options.cwd);
  if (typeof options.description === 'function') return options.description({ cwd });
  if (options.description !== undefined) return options.description;
  const { mode, timeoutMs, spill, registry, onTimeout, perCall } = options;
  const moves = onTimeout === 'background' || (registry !== undefined && onTimeout !== 'kill');
  const lasts = sessionOf(options) !== undefined || (perCall === undefined ? false : null);
  return describeTool({ cwd, mode, timeoutMs, moves, lasts, truncate: ownTruncate(options), spill: spill !== false });
}

/** An error as the model reads it. Codes of others (`ENOENT`) say nothing about the run. */
function nothingRan(error: unknown, code: string): BashToolError {
  const { code: own, findings } = Object(error) as Partial<BashError>;
  return {
    error: messageOf(error),
    code: typeof own === 'string' && own.startsWith('ERR_BASH_') ? own : code,
    ...(Array.isArray(findings) && { findings }),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
