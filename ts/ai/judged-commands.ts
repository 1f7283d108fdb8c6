import { joinParts } from '../tool/parts.ts';
import { commandsOfAction } from '../tool/provider.ts';
import type { BashToolAccess, BashToolInput } from '../tool/types.ts';
import type { ApprovalInput, BashApprovalJudgement } from './types.ts';

const STRICTNESS = ['allow', 'ask', 'deny'] as const;

/**
 * Returns the commands that an input of any of the tools would run, and the commit that it asks for. An input that fits
 * two tools is judged as both, and an invalid input runs nothing. Throws if a getter of the input does.
 */
export function judgedCommands(input: ApprovalInput): BashToolInput[] {
  return callsOf(input).flat();
}

/**
 * Returns the commands of an input as its tool may read it, a list for each tool that it fits. A decision about the
 * call holds in each of them.
 */
export function callsOf(input: ApprovalInput): BashToolInput[][] {
  const { command, cwd, access, draft_commit } = Object(input) as Record<string, unknown>;
  // Only the start of a terminal has a command, and a question about a task has none.
  const more = access === undefined || access === null ? {} : { access: access as BashToolAccess };
  const commit = command == null && draft_commit === true ? [{ draft_commit }] : [];
  const own = typeof command === 'string' ? [{ command, ...(typeof cwd === 'string' && { cwd }), ...more }] : commit;
  return [own, commandsOfAction(input)].filter((commands) => commands.length > 0);
}

/** Combines the judgements of several commands: the strictest, with the reasons of all that are equally strict. */
export function strictest(judgements: BashApprovalJudgement[]): BashApprovalJudgement {
  const level = ({ verdict }: BashApprovalJudgement) => STRICTNESS.indexOf(verdict);
  const [first, ...others] = judgements.toSorted((one, other) => level(other) - level(one));
  if (first === undefined) throw new Error('nothing was judged');
  const alike = others.filter(({ verdict }) => verdict === first.verdict);
  return { ...first, reason: joinParts([...new Set([first, ...alike].map(({ reason }) => reason))]) };
}
