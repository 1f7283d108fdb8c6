import { type AnalyzeOptions, bash } from 'agent-bash';
import { checkFunctions } from '../core/functions.ts';
import { innerOf } from '../core/inner.ts';
import { type Decider, NOBODY, type WithoutPeople } from '../core/ledger.ts';
import { type OptionTableOf, PLAIN } from '../core/option-names.ts';
import { approvedByPerson, type CallDecision, leaveDecision } from '../tool/call/decisions.ts';
import { entryOptions } from '../tool/call/entry.ts';
import { signalOfCall } from '../tool/call/interruption.ts';
import { checkOptionNames, innerOptions } from '../tool/options.ts';
import type { BashApprovalCall } from '../tool/types.ts';
import { type Judged, judgeCall, termsOf } from './judge-call.ts';
import { callsOf } from './judged-commands.ts';
import { firstAnswer, type People } from './people.ts';
import type { ApprovalInput, ApprovalOptions, AskPerson, BashApprovalStatus, ToolApproval } from './types.ts';

const OF_ASK: OptionTableOf<{ rules: unknown; person: unknown }> = { rules: PLAIN, person: PLAIN };

/** The options of an approval that `analyze()` does not have. */
const OF_APPROVALS: OptionTableOf<Omit<ApprovalOptions, keyof AnalyzeOptions>> = {
  tool: PLAIN,
  allow: PLAIN,
  ask: { fields: OF_ASK },
  page: PLAIN,
  deny: PLAIN,
  confined: PLAIN,
  draft: PLAIN,
};

/**
 * Creates an approval that asks a person before the tool runs a command that is not plainly harmless. In ai 7:
 * `toolApproval: { bash: createToolApproval() }`. In ai 6: `bash: { ...createBashTool(), needsApproval:
 * createToolApproval().needsApproval }`.
 *
 * A command that `analyze` or the rules deny is refused, with a reason for the model. A command that they ask about
 * needs approval, with a reason for the person: on the page with `page`, by the function of `ask`, or else in the way
 * of the SDK. Any other command runs without a request. An approved command runs even if the tool has `safety.onAsk:
 * 'deny'`. Refusals have an entry in the ledger, as runs have.
 * Throws a `BashError` with `ERR_BASH_INVALID_ARG` for invalid options.
 */
export function createToolApproval(options: ApprovalOptions = {}): ToolApproval {
  checkOptionNames('createToolApproval', options, { ...innerOptions().analyze, ...OF_APPROVALS });
  for (const name of ['confined', 'draft', 'page'] as const) {
    const value = options[name];
    if (value !== undefined && typeof value !== 'boolean') throw innerOf(bash).invalid(name, value, 'a boolean');
  }
  const { rules, person } = askOf(options.ask);
  const terms = termsOf(options, rules);
  const people: People = { page: options.page === true, person };
  const alone = (options as WithoutPeople)[NOBODY];
  // A page that is open finds this process before its first call asks.
  if (people.page) innerOf(bash).listen();
  // OpenAI reads nothing but the output of its shells, and a refusal would become such an output.
  const answersItself = options.tool !== undefined && 'id' in options.tool && options.tool.id.startsWith('openai.');

  const decide = async (input: ApprovalInput, call: BashApprovalCall): Promise<Outcome> => {
    const judged = await judgeCall(terms, input, call);
    const outcome = await outcomeOf(judged, people, call, alone);
    if (outcome.verdict === 'deny' && !outcome.withdrawn) record(judged, call, outcome.by);
    leave(input, call, null);
    return outcome;
  };
  const approval = async (input: ApprovalInput, call: BashApprovalCall = {}): Promise<BashApprovalStatus> => {
    const outcome = await decide(input, call);
    const { verdict, reason } = outcome;
    if (verdict === 'allow') {
      leave(input, call, { decidedBy: null });
      return 'not-applicable';
    }
    if (verdict === 'approved') {
      leave(input, call, { decidedBy: outcome.by });
      return { type: 'approved', ...(reason !== '' && { reason }) };
    }
    if (verdict === 'deny' && answersItself && call.toolCallId) {
      leave(input, call, outcome.refusal);
      return 'not-applicable';
    }
    return { type: verdict === 'ask' ? 'user-approval' : 'denied', reason };
  };
  const needsApproval = async (input: ApprovalInput, call: BashApprovalCall = {}): Promise<boolean> => {
    const outcome = await decide(input, call);
    if (outcome.verdict === 'allow') leave(input, call, { decidedBy: null });
    if (outcome.verdict === 'approved') leave(input, call, { decidedBy: outcome.by });
    if (outcome.verdict === 'deny') leave(input, call, outcome.refusal);
    // An approved call is asked about again before it runs, and ai 6 refuses an approved call that no longer needs
    // approval.
    return outcome.verdict === 'ask' || (outcome.verdict === 'allow' && approvedByPerson(call));
  };
  const judge = async (input: ApprovalInput, call: BashApprovalCall = {}) =>
    (await judgeCall(terms, input, call)).judgement;
  return Object.assign(approval, { needsApproval, judge });
}

/** Returns the two parts of the option `ask`. `termsOf` checks the rules. */
function askOf(ask: ApprovalOptions['ask']): { rules: string[] | undefined; person: AskPerson | undefined } {
  if (typeof ask === 'function') return { rules: undefined, person: ask };
  if (typeof ask !== 'object' || ask === null || Array.isArray(ask)) return { rules: ask, person: undefined };
  const { rules, person } = ask;
  checkFunctions(innerOf(bash), { 'ask.person': person });
  return { rules, person };
}

/** What becomes of a call. The reason is for the person who is asked in the way of the SDK, or for the model. */
type Outcome = { reason: string } & (
  | { verdict: 'allow' | 'ask' }
  | { verdict: 'approved'; by: Decider }
  | { verdict: 'deny'; by: Decider | null; refusal: CallDecision; withdrawn: boolean }
);

/** Asks the people if the judgement does. `alone` refuses the call if nobody can be asked. */
async function outcomeOf(
  { judgement, question }: Judged,
  people: People,
  call: BashApprovalCall,
  alone: string | undefined,
): Promise<Outcome> {
  const { verdict, reason, analysis } = judgement;
  if (verdict === 'allow') return { verdict, reason };
  if (verdict === 'deny' || question === null) {
    const findings = analysis?.findings.length ? { findings: analysis.findings } : {};
    return denied(reason, null, findings);
  }
  // The answer is there, and the SDK asks whether it is still needed.
  if (approvedByPerson(call)) return { verdict, reason };
  const answer = await firstAnswer(question, people, call.abortSignal ?? signalOfCall(call.toolCallId));
  if (answer === null)
    return alone === undefined ? { verdict, reason } : denied([...question.reasons, alone].join('\n'), null);
  if (answer.approved && answer.by !== null) return { verdict: 'approved', reason: answer.reason, by: answer.by };
  return denied(answer.reason, answer.by, {}, answer.withdrawn);
}

function denied(reason: string, by: Decider | null, more: object = {}, withdrawn = false): Outcome {
  return { verdict: 'deny', reason, by, refusal: { error: reason, code: 'ERR_BASH_BLOCKED', ...more }, withdrawn };
}

/** Records a refusal in the ledger: its tool may never be called, and so could not. */
function record({ commands, held }: Judged, call: BashApprovalCall, decidedBy: Decider | null): void {
  if (held === null) return;
  const { ledger, actor } = entryOptions(held, call);
  if (!ledger) return;
  for (const { command, judgement } of commands) {
    const { analysis, decision } = judgement;
    const rules = [...new Set(analysis?.findings.map(({ ruleId }) => ruleId))];
    const options = { ledger, actor, cwd: analysis?.cwd };
    try {
      innerOf(bash).recordRefusal({
        command,
        options,
        verdict: decision?.verdict ?? 'deny',
        rules,
        ...(decidedBy && { decidedBy }),
      });
    } catch {
      // A refusal without an entry is still one.
    }
  }
}

/** Stores a decision for the tool to take, or removes it if it no longer holds. Nobody could take one without an id. */
function leave(input: ApprovalInput, { toolCallId }: BashApprovalCall, decision: CallDecision | null): void {
  if (!toolCallId && decision !== null && 'decidedBy' in decision) return;
  try {
    for (const commands of callsOf(input)) leaveDecision(toolCallId ?? '', commands, decision);
  } catch {
    // The tool cannot read the input either, and says so.
  }
}
