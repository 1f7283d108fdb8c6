/**
 * A tool call, from top to bottom: the options that apply to it (`setup.ts`), what the model asks for (`validate.ts`,
 * `intercept.ts`, `access.ts`), the safety rules (`judge.ts`), the run by its executor (`run.ts`), and what the model
 * reads of it (`view.ts`, `format.ts`).
 */
import { DECIDED, type Decided } from '../../core/ledger.ts';
import { messageOf } from '../../core/listener.ts';
import { isSandboxed } from '../executor.ts';
import { NO_TASKS, sandboxJudgement } from '../sandbox/options.ts';
import { contextOf, optionsFor, type ToolSetup, toolFolder } from '../setup.ts';
import type {
  BashToolError,
  BashToolExecutionOptions,
  BashToolInput,
  BashToolOptions,
  BashToolOutput,
  BashToolSnapshot,
} from '../types.ts';
import { withAccess } from './access.ts';
import { approvedByPerson, takeDecision } from './decisions.ts';
import { commitDraft, forgetLost, showDraft, withDraft } from './draft.ts';
import { entryOptions } from './entry.ts';
import { intercept } from './intercept.ts';
import { approvedNotes, approvedOptions, judge, nothingRan, unattended } from './judge.ts';
import { answerTask, rememberRun, taskQuestion, undoForModel } from './manage.ts';
import { runPlan } from './run.ts';
import { type CallPlan, planCall } from './validate.ts';
import { Viewing } from './view.ts';

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
    const placed = await optionsFor(setup, { context: contextOf(call), toolCallId }, experimental_sandbox);
    const held = commands.some(({ command }) => command != null) ? await withDraft(placed) : placed;
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
    if (isSandboxed(options)) return { error: NO_TASKS, code: 'ERR_BASH_UNSUPPORTED' };
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
  const { draft_changes, draft_commit } = input;
  if (input.command == null && (draft_changes != null || draft_commit)) {
    const cwd = toolFolder(options);
    const answered = draft_changes != null ? showDraft(draft_changes, options, cwd) : commitDraft(options);
    return await answered.catch((error) => draftFailed(options, error));
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

/** Returns the error of a call that may have been in a draft. */
async function draftFailed(options: BashToolOptions, error: unknown, code = 'ERR_BASH_DRAFT'): Promise<BashToolError> {
  await forgetLost(options, error);
  return nothingRan(error, code);
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
      const plan = judged(planCall(command, input, held));
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
    output = await draftFailed(options, error, 'ERR_BASH_SPAWN');
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
function judged(plan: CallPlan): CallPlan {
  const { kind } = plan.executor;
  if (kind !== 'sandbox' && kind !== 'host') return plan;
  // What runs the command instead may hold no confinement.
  const { confine, ...own } = plan.options;
  const notes = judge(plan.command, kind === 'sandbox' ? sandboxJudgement(own) : own);
  return { ...plan, notes: [...plan.notes, ...notes] };
}
