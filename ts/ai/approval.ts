import { type AnalyzeOptions, analyze, BashError, decide } from 'agent-bash';
import { refusalKey } from '../provider/refusal-key.ts';
import { askReason, denyReason, type Rules } from './approval-reason.ts';
import { approvedByPerson } from './approved.ts';
import { callFolder, toolFolder } from './call-plan.ts';
import { folderThere, judgedThere, sandboxOf } from './in-sandbox/sandbox.ts';
import { analyzeOptions, judgedText } from './judge.ts';
import { judgedCommands, strictest } from './judged-commands.ts';
import { checkIsObject } from './options-object.ts';
import { refuse } from './refused.ts';
import { contextOf, type Made, madeOf, optionsFor } from './tool-options.ts';
import type {
  ApprovalInput,
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
  checkIsObject(options);
  const { tool, allow, ask = [], deny = [] } = options;
  const made: Made | undefined = tool === undefined ? { options: {}, folder: toolFolder(undefined) } : madeOf(tool);
  if (made === undefined) {
    throw new BashError(
      'ERR_BASH_INVALID_ARG',
      'tool: it was not made by createBashTool, createTerminalTool or a provider tool of this package',
    );
  }
  // OpenAI reads of its shells nothing but their own output, and a status would become another one.
  const answersItself = tool !== undefined && 'id' in tool && tool.id.startsWith('openai.');
  const rules: Rules = { allow, ask, deny };
  const folder = options.cwd === undefined ? made.folder : toolFolder(options.cwd);
  // What cannot be is said here, and not at the first call.
  decide(analyze(':', judgedWith(options, { ...made.options, cwd: folder })), rules);

  const judgeOne = (input: BashToolInput, held: BashToolOptions): BashApprovalJudgement => {
    const text = judgedText(input.command as string, held);
    const place = options.cwd === undefined ? held : { ...held, cwd: folder };
    const analysis = analyze(text, judgedWith(options, place, input.cwd));
    const decision = decide(analysis, rules);
    const { verdict } = decision;
    const reason =
      verdict === 'allow' ? '' : verdict === 'ask' ? askReason(analysis, decision, rules) : denyReason(analysis, rules);
    return { verdict, reason, analysis, decision };
  };
  const judge = async (input: ApprovalInput, call: BashApprovalCall = {}): Promise<BashApprovalJudgement> => {
    const commands = judgedCommands(input);
    if (commands.length === 0) return UNASKED;
    try {
      const context = contextOf(call);
      const held = await optionsFor({ ...made, folder }, { context, toolCallId: call.toolCallId ?? '' });
      return strictest(commands.map((command) => judgeOne(command, held)));
    } catch (error) {
      // Nobody knows where or how the command would run.
      const reason = error instanceof Error ? error.message : String(error);
      return { ...UNASKED, verdict: 'deny', reason };
    }
  };
  /** Leaves what is refused for the tool to answer with; what is not refused any more is taken back. */
  const leave = (
    input: ApprovalInput,
    call: BashApprovalCall,
    { verdict, reason, analysis }: BashApprovalJudgement,
  ) => {
    const findings = analysis?.findings.length ? { findings: analysis.findings } : {};
    const answer = verdict === 'deny' ? { error: reason, code: 'ERR_BASH_BLOCKED', ...findings } : null;
    refuse(call.toolCallId ?? '', refusalKey(judgedCommands(input)), answer);
  };

  const approval = async (input: ApprovalInput, call: BashApprovalCall = {}): Promise<BashApprovalStatus> => {
    const judgement = await judge(input, call);
    const { verdict, reason } = judgement;
    if (verdict === 'allow') return 'not-applicable';
    if (verdict === 'deny' && answersItself && call.toolCallId) {
      leave(input, call, judgement);
      return 'not-applicable';
    }
    return { type: verdict === 'ask' ? 'user-approval' : 'denied', reason };
  };
  const needsApproval = async (input: ApprovalInput, call: BashApprovalCall = {}): Promise<boolean> => {
    const judgement = await judge(input, call);
    const { verdict } = judgement;
    leave(input, call, judgement);
    // An approved call is asked about again before it runs, and ai 6 refuses one that needs no approval any more.
    return verdict === 'ask' || (verdict === 'allow' && approvedByPerson(call));
  };
  return Object.assign(approval, { needsApproval, judge });
}

/** What the engine is told: the options of the tool, and over them those of the approval. */
function judgedWith(options: ApprovalOptions, tool: BashToolOptions, asked?: string | null): AnalyzeOptions {
  const there = sandboxOf(tool) !== undefined;
  const own = analyzeOptions(
    there
      ? judgedThere({ ...tool, cwd: folderThere(tool.cwd, asked) })
      : { ...tool, cwd: callFolder(toolFolder(tool.cwd), asked) },
  );
  return {
    cwd: own.cwd,
    env: options.env ?? own.env,
    home: options.home,
    rules: { ...own.rules, ...options.rules },
    wrappers: { ...own.wrappers, ...options.wrappers },
  };
}
