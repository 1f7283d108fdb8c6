import { commandsOfAction } from '../provider/action.ts';
import { joinParts } from './parts.ts';
import type { ApprovalInput, BashApprovalJudgement, BashToolInput } from './types.ts';

const STRICTNESS = ['allow', 'ask', 'deny'] as const;

/** The commands that an input would run, of whatever tool it is: one that reads as that of two is judged as both, and one that is none runs nothing. */
export function judgedCommands(input: ApprovalInput): BashToolInput[] {
  const { command, cwd } = Object(input) as Record<string, unknown>;
  // Of a terminal only its start has a command, and what asks about a task has none.
  const own = typeof command === 'string' ? [{ command, ...(typeof cwd === 'string' && { cwd }) }] : [];
  return [...own, ...commandsOfAction(input)];
}

/** What the judgements of several commands come to: the strictest of them, with the reasons of all that are as strict. */
export function strictest(judgements: BashApprovalJudgement[]): BashApprovalJudgement {
  const level = ({ verdict }: BashApprovalJudgement) => STRICTNESS.indexOf(verdict);
  const [first, ...others] = judgements.toSorted((one, other) => level(other) - level(one));
  if (first === undefined) throw new Error('nothing was judged');
  const alike = others.filter(({ verdict }) => verdict === first.verdict);
  return { ...first, reason: joinParts([...new Set([first, ...alike].map(({ reason }) => reason))]) };
}
