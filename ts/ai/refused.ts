import { createHash } from 'node:crypto';
import type { BashToolError } from './types.ts';

/** Calls that were refused and not run yet: at most this many, the oldest go first. More than a model can ask for in one step, so that none runs because of others. */
const MOST = 20_000;
const refused = new Map<string, BashToolError>();

/** Short for commands of any length. */
const key = (toolCallId: string, command: string) =>
  createHash('sha256').update(`${toolCallId}\0${command}`).digest('base64');

/**
 * `needsApproval` can say yes or no, and a no runs the call: what an approval refuses is left here, for the tool to give as its
 * answer when the call comes. `null` takes an earlier refusal of the same call back.
 */
export function refuse(toolCallId: string, command: string, answer: BashToolError | null): void {
  refused.delete(key(toolCallId, command));
  if (answer === null) return;
  refused.set(key(toolCallId, command), answer);
  const [oldest] = refused.keys();
  if (refused.size > MOST && oldest !== undefined) refused.delete(oldest);
}

/** The answer to a call that an approval has refused, once. */
export function takeRefusal(toolCallId: string, command: string): BashToolError | undefined {
  const answer = refused.get(key(toolCallId, command));
  refused.delete(key(toolCallId, command));
  return answer;
}
