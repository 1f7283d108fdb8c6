import { type BashResult, type BashSnapshot, bash, type OutputChunk } from 'agent-bash';
import { onAbort } from '../core/abort.ts';
import { DECIDED, type Decided } from '../core/ledger.ts';
import { messageOf } from '../core/listener.ts';
import { type CallPlan, contextOf, optionsFor, planCall, type ToolSetup } from './call-plan.ts';
import { approvedByPerson, takeDecision } from './decisions.ts';
import { entryOptions } from './entry.ts';
import { intercept } from './intercept.ts';
import { approvedNotes, approvedOptions, judge, nothingRan, unattended, withAccess } from './judge.ts';
import { applyLineLimits, HeadStop } from './lines.ts';
import { adoptedNotes, answerTask, rememberRun, taskQuestion, undoForModel } from './manage.ts';
import { NO_TASKS, sandboxJudgement, sandboxOf } from './place.ts';
import { runnerOf } from './runner.ts';
import type {
  BashToolError,
  BashToolExecutionOptions,
  BashToolInput,
  BashToolOptions,
  BashToolOutput,
  BashToolSnapshot,
} from './types.ts';
import { Viewing } from './view.ts';

/**
 * Yields what `start` pushes while it works and returns its result. Rethrows a rejection. A slow consumer only receives
 * the newest update. An update that is not consumed before the end is dropped.
 */
export async function* live<Update, Result>(
  start: (push: (update: Update) => void) => Promise<Result>,
): AsyncGenerator<Update, Result, undefined> {
  let newest: { update: Update } | null = null;
  let settled = false;
  let wake = () => {};
  const done = start((update) => {
    newest = { update };
    wake();
  });
  const settle = () => {
    settled = true;
    wake();
  };
  done.then(settle, settle);
  while (!settled) {
    const next = newest as { update: Update } | null;
    if (next === null) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    } else {
      newest = null;
      yield next.update;
    }
  }
  return await done;
}

const DEFAULT_UPDATE_INTERVAL_MS = 250;

/**
 * Returns the options that apply to one call, for every tool that runs commands, or the refusal of an approval. The
 * options say where a person has approved the commands.
 */
export async function resolveOptions(
  setup: ToolSetup,
  call: BashToolExecutionOptions,
  commands: readonly BashToolInput[],
): Promise<(BashToolOptions & Decided) | BashToolError> {
  const { toolCallId, experimental_sandbox } = call;
  const decision = commands.length === 0 ? undefined : takeDecision(toolCallId, commands);
  if (decision !== undefined && 'error' in decision) return decision;
  const decidedBy = decision?.decidedBy ?? (approvedByPerson(call) ? 'host' : undefined);
  try {
    const held = await optionsFor(setup, { context: contextOf(call), toolCallId }, experimental_sandbox);
    if (decidedBy !== undefined) return { ...approvedOptions(held), [DECIDED]: decidedBy };
    return decision === undefined ? unattended(held) : held;
  } catch (error) {
    return nothingRan(error, 'ERR_BASH_INVALID_ARG');
  }
}

/** Answers a valid input under the options of its call. Yields snapshots and returns the output. Never throws. */
export async function* answer(
  options: BashToolOptions & Decided,
  input: BashToolInput,
  call: BashToolExecutionOptions,
): AsyncGenerator<BashToolSnapshot, BashToolOutput, undefined> {
  const viewing = new Viewing(options, input, call);
  const question = taskQuestion(input);
  if (question) {
    if (sandboxOf(options)) return { error: NO_TASKS, code: 'ERR_BASH_UNSUPPORTED' };
    return await viewing
      .check(() => answerTask(question, options, call.abortSignal))
      .catch((error) => nothingRan(error, 'ERR_BASH_SPAWN'));
  }
  if (input.recall != null && viewing.recalls) return await viewing.recall(input.recall);
  if (input.undo_run != null) {
    const undone = await undoForModel(input.undo_run, options).catch((error) => nothingRan(error, 'ERR_BASH_UNDO'));
    rememberRun(options, undone);
    return undone;
  }
  const asked = input.command as string;
  // `bash` runs an empty command. From a model it is a mistake.
  if (asked.trim() === '') return { error: 'command is empty: nothing ran', code: 'ERR_BASH_INVALID_ARG' };
  let command: string;
  try {
    command = (await options.onBeforeRun?.({ command: asked }))?.command ?? asked;
  } catch (error) {
    return nothingRan(error, 'ERR_BASH_BLOCKED');
  }
  return yield* runCall(command, options, input, call, viewing);
}

/** Runs the command. Yields snapshots while it runs. */
async function* runCall(
  command: string,
  options: BashToolOptions & Decided,
  input: BashToolInput,
  call: BashToolExecutionOptions,
  viewing: Viewing,
): AsyncGenerator<BashToolSnapshot, BashToolOutput, undefined> {
  let output: BashToolOutput;
  try {
    const suggested = intercept(command, options);
    if (suggested) output = suggested;
    else {
      const held = await withAccess(options, command, input, call.toolCallId);
      const plan = judged(planCall(command, input, held), held);
      const views = await viewing.optionsFor(plan);
      const entry = entryOptions(held, call);
      const result = yield* runPlan(
        { ...plan, options: { ...plan.options, ...views, ...entry } },
        held,
        call.abortSignal,
      );
      output = await viewing.finish(result, plan);
    }
    if ('notes' in output && options[DECIDED] !== undefined) output = { ...output, notes: approvedNotes(output.notes) };
    rememberRun(options, output);
  } catch (error) {
    output = nothingRan(error, 'ERR_BASH_SPAWN');
  }
  return await afterRun(command, output, options, viewing);
}

/** Calls the hook with an output, and returns the output that it leaves. */
async function afterRun(
  command: string,
  output: BashToolOutput,
  { onAfterRun }: BashToolOptions,
  viewing: Viewing,
): Promise<BashToolOutput> {
  if (onAfterRun === undefined) return output;
  // The hook may change the output itself.
  const before = { ...output };
  try {
    const replaced = await onAfterRun({ command, result: output });
    return await viewing.replaced(before, typeof replaced === 'object' && replaced !== null ? replaced : output);
  } catch (error) {
    // The command has run, so the model must see its result.
    return 'notes' in output
      ? { ...output, notes: [...output.notes, `onAfterRun failed: ${messageOf(error)}`] }
      : output;
  }
}

/** `bash` judges a command itself. A replacement for it does not. */
function judged(plan: CallPlan, options: BashToolOptions): CallPlan {
  const there = sandboxOf(options) !== undefined;
  if (!there && (options.run === undefined || options.run === bash)) return plan;
  // What runs the command instead may hold no confinement.
  const { confine, ...own } = plan.options;
  const notes = judge(plan.command, there ? sandboxJudgement(own) : own);
  return { ...plan, notes: [...plan.notes, ...notes] };
}

async function* runPlan(
  plan: CallPlan,
  options: BashToolOptions,
  callSignal: AbortSignal | undefined,
): AsyncGenerator<BashToolSnapshot, BashResult, undefined> {
  const { updateIntervalMs = DEFAULT_UPDATE_INTERVAL_MS } = options;
  const run = runnerOf(options);
  // Listeners and a signal given to the session apply too.
  const { signal, onOutput, onSnapshot } = plan.options;
  const abortSignal = signal && callSignal ? AbortSignal.any([signal, callSignal]) : (signal ?? callSignal);
  // A signal of our own: the command also ends after its last wanted line, and when the consumer stops iterating.
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
              // Every listener of the stream receives each snapshot as an event, so only a changed one is sent.
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

/** The SDK's time limit and a person abort through the same signal. Only the reason differs. */
function timeoutNote(result: BashResult, signal: AbortSignal | undefined): string[] {
  const byLimit = result.status === 'aborted' && (signal?.reason as Error | undefined)?.name === 'TimeoutError';
  return byLimit ? ['the time limit of the tool call was reached'] : [];
}
