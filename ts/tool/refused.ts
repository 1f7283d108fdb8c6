import { createHash } from 'node:crypto';
import type { BashToolError } from './types.ts';

/**
 * Refused calls that have not run yet, at most. The oldest are dropped first. The number exceeds what a model can ask
 * for in one step, so other calls never displace one.
 */
const MOST = 20_000;
const refused = new Map<string, BashToolError>();

/** A hash keeps the key short for commands of any length. */
const key = (toolCallId: string, command: string) =>
  createHash('sha256').update(`${toolCallId}\0${command}`).digest('base64');

/**
 * `needsApproval` can only answer yes or no, and a no runs the call. A refusal by an approval is therefore stored here,
 * and the tool returns it when the call runs. `null` removes an earlier refusal of the same call.
 */
export function refuse(toolCallId: string, command: string, answer: BashToolError | null): void {
  refused.delete(key(toolCallId, command));
  if (answer === null) return;
  refused.set(key(toolCallId, command), answer);
  const [oldest] = refused.keys();
  if (refused.size > MOST && oldest !== undefined) refused.delete(oldest);
}

/** Removes and returns the refusal of a call. */
export function takeRefusal(toolCallId: string, command: string): BashToolError | undefined {
  const answer = refused.get(key(toolCallId, command));
  refused.delete(key(toolCallId, command));
  return answer;
}
