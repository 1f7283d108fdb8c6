import { bash } from 'agent-bash';
import { onAbort } from '../core/abort.ts';
import { innerOf } from '../core/inner.ts';
import type { Decider } from '../core/ledger.ts';
import { messageOf } from '../core/listener.ts';
import type { ApprovalQuestion, AskPerson } from './types.ts';

/** Where an approval asks people. */
export interface People {
  page: boolean;
  /** The host's own way of asking. */
  person: AskPerson | undefined;
}

/** The answer of a person, or a denial because no person could answer. */
export interface Answer {
  approved: boolean;
  /** The person's words or the reason of the denial; `''` if there is none. */
  reason: string;
  /** Where a person decided; `null` if no person did. */
  by: Decider | null;
  /** Whether the question was withdrawn because its call was aborted. */
  withdrawn?: true;
}

const WITHDRAWN: Answer = {
  approved: false,
  reason: 'the call was interrupted before a person could answer: nothing was run',
  by: null,
  withdrawn: true,
};
/** The words that the model reads if a person denied without a reason. */
const WORDLESS = 'the person who was asked said no: nothing was run. Leave it out, or ask the user what to do instead';

/**
 * Asks on the page and in the host's own way, and returns the first answer; `null` if no person can be asked. The first
 * answer withdraws the other question, and the signal withdraws both.
 */
export async function firstAnswer(
  question: ApprovalQuestion,
  { page, person }: People,
  abortSignal: AbortSignal | undefined,
): Promise<Answer | null> {
  if (!page && person === undefined) return null;
  if (abortSignal?.aborted) return WITHDRAWN;
  const over = new AbortController();
  const { signal } = over;
  const asked: Promise<Answer | null>[] = [new Promise((resolve) => onAbort(signal, () => resolve(WITHDRAWN)))];
  const forget = abortSignal && onAbort(abortSignal, () => over.abort(abortSignal.reason));
  try {
    const stays = person !== undefined;
    if (page) asked.push(answerOfPage(question, stays, signal).then((answer) => answer ?? (stays ? never() : null)));
    if (person) asked.push(askHost(question, person, signal));
    return await Promise.race(asked);
  } finally {
    forget?.();
    over.abort();
  }
}

/** Asks in the host's own way. The signal that the host gets aborts only while the host has not answered. */
function askHost(question: ApprovalQuestion, person: AskPerson, signal: AbortSignal): Promise<Answer> {
  const host = new AbortController();
  const unlink = onAbort(signal, () => host.abort(signal.reason));
  return answerOfHost(question, person, host.signal).finally(unlink);
}

async function answerOfPage(
  { command, cwd, actor, verdict, rules, reasons, undo }: ApprovalQuestion,
  stays: boolean,
  signal: AbortSignal,
): Promise<Answer | null> {
  const question = { command, cwd, actor, verdict, rules, reasons, undo, stays };
  // An error counts as if no page were open.
  const answer = await innerOf(bash)
    .askPage(question, signal)
    .catch(() => null);
  return answer && answered(answer.approved, answer.reason, 'page');
}

/** Returns the answer of the host. An invalid answer and an error count as a denial. */
async function answerOfHost(question: ApprovalQuestion, person: AskPerson, signal: AbortSignal): Promise<Answer> {
  try {
    const answer: unknown = await person(structuredClone(question), { signal });
    const { approved, reason } = Object(answer) as { approved?: unknown; reason?: unknown };
    if (typeof approved === 'boolean' && (reason == null || typeof reason === 'string')) {
      return answered(approved, reason, 'host');
    }
    return fault('the answer of the host is not { approved: boolean; reason?: string }');
  } catch (error) {
    return fault(`the host could not ask a person (${messageOf(error)})`);
  }
}

function answered(approved: boolean, words: string | null | undefined, by: Decider): Answer {
  const reason = words?.trim() ? words : '';
  return { approved, reason: approved || reason !== '' ? reason : WORDLESS, by };
}

function fault(why: string): Answer {
  return { approved: false, reason: `${why}: nothing was run`, by: null };
}

function never(): Promise<never> {
  return new Promise(() => {});
}
