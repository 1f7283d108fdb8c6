import { type AnalyzeOptions, analyze, BashError, bash, decide } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { messageOf } from '../core/listener.ts';
import { type OptionTableOf, PLAIN } from '../core/option-names.ts';
import { REACH, type Reach } from '../core/world.ts';
import { callFolder, contextOf, optionsFor, setupFor, setupOf, type ToolSetup, toolFolder } from '../tool/call-plan.ts';
import { ASKED_RULES, analyzeOptions, approvedByPerson, judgedText, refuse, withGrants } from '../tool/judge.ts';
import { checkOptionNames, innerOptions, undoOption } from '../tool/options.ts';
import { sandboxDirectory, sandboxJudgement, sandboxOf } from '../tool/place.ts';
import { refusalKey } from '../tool/provider.ts';
import type { BashApprovalCall, BashToolInput, BashToolOptions } from '../tool/types.ts';
import { askReason, denyReason, type Rules, undoReason } from './approval-reason.ts';
import { judgedCommands, strictest } from './judged-commands.ts';
import type {
  ApprovalInput,
  ApprovalOptions,
  BashApprovalJudgement,
  BashApprovalStatus,
  ToolApproval,
} from './types.ts';

/** The options of an approval that `analyze()` does not have. */
const OF_APPROVALS: OptionTableOf<Omit<ApprovalOptions, keyof AnalyzeOptions>> = {
  tool: PLAIN,
  allow: PLAIN,
  ask: PLAIN,
  deny: PLAIN,
  confined: PLAIN,
};

const UNASKED: BashApprovalJudgement = { verdict: 'allow', reason: '', analysis: null, decision: null };

/**
 * Creates an approval that asks a person before the tool runs a command that is not plainly harmless. In ai 7:
 * `toolApproval: { bash: createToolApproval() }`. In ai 6: `bash: { ...createBashTool(), needsApproval:
 * createToolApproval().needsApproval }`.
 *
 * A command that `analyze` or the rules deny is refused, with a reason for the model. A command that they ask about
 * needs approval, with a reason for the person. Any other command runs without a request. An approved command runs even
 * if the tool has `safety.onAsk: 'deny'`.
 * Throws a `BashError` with `ERR_BASH_INVALID_ARG` for invalid options.
 */
export function createToolApproval(options: ApprovalOptions = {}): ToolApproval {
  checkOptionNames('createToolApproval', options, { ...innerOptions().analyze, ...OF_APPROVALS });
  if (options.confined !== undefined && typeof options.confined !== 'boolean') {
    throw innerOf(bash).invalid('confined', options.confined, 'a boolean');
  }
  const terms = termsOf(options);
  // Invalid options are reported here, not at the first call.
  decide(analyze(':', judgedWith(options, { ...terms.setup.options, cwd: terms.folder })), terms.rules);
  // OpenAI reads nothing but the output of its shells, and a refusal would become such an output.
  const answersItself = options.tool !== undefined && 'id' in options.tool && options.tool.id.startsWith('openai.');

  const approval = async (input: ApprovalInput, call: BashApprovalCall = {}): Promise<BashApprovalStatus> => {
    const judgement = await judgeCall(terms, input, call);
    const { verdict, reason } = judgement;
    if (verdict === 'allow') return 'not-applicable';
    if (verdict === 'deny' && answersItself && call.toolCallId) {
      leaveRefusal(input, call, judgement);
      return 'not-applicable';
    }
    return { type: verdict === 'ask' ? 'user-approval' : 'denied', reason };
  };
  const needsApproval = async (input: ApprovalInput, call: BashApprovalCall = {}): Promise<boolean> => {
    const judgement = await judgeCall(terms, input, call);
    const { verdict } = judgement;
    leaveRefusal(input, call, judgement);
    // An approved call is asked about again before it runs, and ai 6 refuses an approved call that no longer needs
    // approval.
    return verdict === 'ask' || (verdict === 'allow' && approvedByPerson(call));
  };
  const judge = (input: ApprovalInput, call: BashApprovalCall = {}) => judgeCall(terms, input, call);
  return Object.assign(approval, { needsApproval, judge });
}

/** The terms that an approval judges every call by. */
interface Terms {
  options: ApprovalOptions;
  /** The tool whose calls are judged. */
  setup: ToolSetup;
  /** The directory that commands start in. */
  folder: string;
  rules: Rules;
}

function termsOf(options: ApprovalOptions): Terms {
  const { tool, cwd, allow, ask = [], deny = [] } = options;
  const setup: ToolSetup | undefined = tool === undefined ? setupFor({}) : setupOf(tool);
  if (setup === undefined) {
    throw new BashError(
      'ERR_BASH_INVALID_ARG',
      'tool: it was not made by createBashTool, createTerminalTool or a provider tool of this package',
    );
  }
  return { options, setup, folder: cwd === undefined ? setup.folder : toolFolder(cwd), rules: { allow, ask, deny } };
}

/** Judges all commands of a call. The strictest judgement holds. */
async function judgeCall(terms: Terms, input: ApprovalInput, call: BashApprovalCall): Promise<BashApprovalJudgement> {
  const { setup, folder } = terms;
  try {
    const commands = judgedCommands(input);
    if (commands.length === 0) return UNASKED;
    const context = contextOf(call);
    const held = await optionsFor({ ...setup, folder }, { context, toolCallId: call.toolCallId ?? '' });
    return strictest(commands.map((command) => judgeCommand(terms, command, held)));
  } catch (error) {
    // Without valid options, or with an input that cannot be read, it is unknown what would run, where and how.
    return { ...UNASKED, verdict: 'deny', reason: messageOf(error) };
  }
}

/** Judges one command with the options that its tool would run it with. */
function judgeCommand(
  { options, folder, rules }: Terms,
  input: BashToolInput,
  held: BashToolOptions,
): BashApprovalJudgement {
  const text = judgedText(input.command as string, held);
  const place = options.cwd === undefined ? held : { ...held, cwd: folder };
  const judged: AnalyzeOptions & { [REACH]?: Reach } = judgedWith(options, place, input.cwd);
  const reach = options.confined ? reachOf(options, input, place) : null;
  if (reach !== null) judged[REACH] = reach;
  const analysis = analyze(text, judged);
  const decision = decide(analysis, rules);
  const { verdict } = decision;
  const undo = verdict === 'ask' ? undoWords(text, judged, held) : '';
  const reason =
    verdict === 'allow'
      ? ''
      : verdict === 'ask'
        ? askReason(analysis, decision, rules, undo)
        : denyReason(analysis, rules);
  return { verdict, reason, analysis, decision };
}

/** Returns how far the command could be undone. `''` for a tool without undo. */
function undoWords(text: string, judged: AnalyzeOptions, held: BashToolOptions): string {
  const undo = undoOption(held.undo);
  if (undo === undefined || undo === 'off' || sandboxOf(held) !== undefined) return '';
  return undoReason(innerOf(bash).undoForecast(text, judged, undo));
}

/** Returns the reach that a confinement leaves a command. `null` if the command is not confined or asks for more. */
function reachOf({ tool }: ApprovalOptions, input: BashToolInput, held: BashToolOptions): Reach | null {
  if (sandboxOf(held) !== undefined || input.access != null) return null;
  const confined = tool === undefined ? { ...held, confine: 'workspace' as const } : withGrants(held);
  return innerOf(bash).reachOf(confined, toolFolder(held.cwd));
}

/** Stores a refusal for the tool to return, or removes it if the call is no longer refused. */
function leaveRefusal(
  input: ApprovalInput,
  call: BashApprovalCall,
  { verdict, reason, analysis }: BashApprovalJudgement,
): void {
  const findings = analysis?.findings.length ? { findings: analysis.findings } : {};
  const answer = verdict === 'deny' ? { error: reason, code: 'ERR_BASH_BLOCKED', ...findings } : null;
  try {
    refuse(call.toolCallId ?? '', refusalKey(judgedCommands(input)), answer);
  } catch {
    // The tool cannot read the input either, and says so.
  }
}

/** Returns the engine's options: the tool's, overlaid with the approval's. */
function judgedWith(options: ApprovalOptions, tool: BashToolOptions, asked?: string | null): AnalyzeOptions {
  const there = sandboxOf(tool) !== undefined;
  const own = analyzeOptions(
    there
      ? sandboxJudgement({ ...tool, cwd: sandboxDirectory(tool.cwd, asked) })
      : { ...tool, cwd: callFolder(toolFolder(tool.cwd), asked) },
  );
  return {
    cwd: own.cwd,
    env: options.env ?? own.env,
    home: options.home,
    rules: { ...ASKED_RULES, ...own.rules, ...options.rules },
    wrappers: { ...own.wrappers, ...options.wrappers },
  };
}
