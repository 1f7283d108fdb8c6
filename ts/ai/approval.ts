import { resolve } from 'node:path';
import { type AnalyzeOptions, analyze, BashError, decide } from 'agent-bash';
import { askReason, denyReason, type Rules } from './approval-reason.ts';
import { approvedByPerson } from './approved.ts';
import { toolFolder } from './call-plan.ts';
import { analyzeOptions, judgedText } from './judge.ts';
import { taskQuestion } from './manage.ts';
import { refuse } from './refused.ts';
import { readInput } from './schema.ts';
import { contextOf, optionsFor, optionsOf } from './tool-options.ts';
import type {
  ApprovalOptions,
  BashApprovalCall,
  BashApprovalJudgement,
  BashApprovalStatus,
  BashToolInput,
  BashToolOptions,
  ToolApproval,
} from './types.ts';

const UNASKED: BashApprovalJudgement = { verdict: 'allow', reason: '', analysis: null, decision: null };

/**
 * Asks a person before the tool runs what is not plainly harmless, in ai 7 by `toolApproval: { bash: createToolApproval() }`, in ai 6
 * by `bash: { ...createBashTool(), needsApproval: createToolApproval().needsApproval }`.
 *
 * What `analyze` and the rules deny is refused, with a reason for the model; what they ask about is asked, with a reason for
 * the person; the rest runs without a request. What a person has approved runs, `safety.onAsk: 'deny'` of the tool notwithstanding.
 * Throws a `BashError`, `ERR_BASH_INVALID_ARG`, for options that cannot be.
 */
export function createToolApproval(options: ApprovalOptions = {}): ToolApproval {
  const { tool, allow, ask = [], deny = [] } = options;
  const toolOptions = tool === undefined ? {} : optionsOf(tool);
  if (toolOptions === undefined) {
    throw new BashError('ERR_BASH_INVALID_ARG', 'tool: it was not made by createBashTool of this package');
  }
  const rules: Rules = { allow, ask, deny };
  const cwd = options.cwd === undefined ? toolFolder(toolOptions.cwd) : toolFolder(options.cwd);
  // What cannot be is said here, and not at the first call.
  decide(analyze(':', judgedWith(options, { ...toolOptions, cwd })), rules);

  const judge = async (input: BashToolInput, call: BashApprovalCall = {}): Promise<BashApprovalJudgement> => {
    if ('issues' in readInput(input) || taskQuestion(input)) return UNASKED;
    let judged: AnalyzeOptions;
    let text: string;
    try {
      const context = contextOf(call);
      const held = await optionsFor({ ...toolOptions, cwd }, { context, toolCallId: call.toolCallId ?? '' });
      text = judgedText(input.command as string, held);
      judged = judgedWith(options, { ...held, cwd: options.cwd === undefined ? held.cwd : cwd });
    } catch (error) {
      // Nobody knows where or how the command would run.
      const reason = error instanceof Error ? error.message : String(error);
      return { ...UNASKED, verdict: 'deny', reason };
    }
    const folder = resolve(toolFolder(judged.cwd), input.cwd ?? '.');
    const analysis = analyze(text, { ...judged, cwd: folder });
    const decision = decide(analysis, rules);
    const { verdict } = decision;
    const reason =
      verdict === 'allow' ? '' : verdict === 'ask' ? askReason(analysis, decision, rules) : denyReason(analysis, rules);
    return { verdict, reason, analysis, decision };
  };

  const approval = async (input: BashToolInput, call?: BashApprovalCall): Promise<BashApprovalStatus> => {
    const { verdict, reason } = await judge(input, call);
    if (verdict === 'allow') return 'not-applicable';
    return { type: verdict === 'ask' ? 'user-approval' : 'denied', reason };
  };
  const needsApproval = async (input: BashToolInput, call: BashApprovalCall = {}): Promise<boolean> => {
    const { verdict, reason, analysis } = await judge(input, call);
    const findings = analysis?.findings.length ? { findings: analysis.findings } : {};
    const answer = verdict === 'deny' ? { error: reason, code: 'ERR_BASH_BLOCKED', ...findings } : null;
    refuse(call.toolCallId ?? '', input.command ?? '', answer);
    // An approved call is asked about again before it runs, and ai 6 refuses one that needs no approval any more.
    return verdict === 'ask' || (verdict === 'allow' && approvedByPerson(call));
  };
  return Object.assign(approval, { needsApproval, judge });
}

/** What the engine is told: the options of the tool, and over them those of the approval. */
function judgedWith(options: ApprovalOptions, tool: BashToolOptions): AnalyzeOptions {
  const own = analyzeOptions(tool);
  return {
    cwd: own.cwd,
    env: options.env ?? own.env,
    home: options.home,
    rules: { ...own.rules, ...options.rules },
    wrappers: { ...own.wrappers, ...options.wrappers },
  };
}
