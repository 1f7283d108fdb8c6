import { type AnalyzeOptions, analyze, BashError, bash, decide } from 'agent-bash';
import { innerOf, type UndoForecast } from '../core/inner.ts';
import { messageOf } from '../core/listener.ts';
import { visible } from '../core/visible.ts';
import { REACH, type Reach } from '../core/world.ts';
import { withGrants } from '../tool/call/access.ts';
import { commitInWords } from '../tool/call/draft.ts';
import { actorOf } from '../tool/call/entry.ts';
import { ASKED_RULES, analyzeOptions, judgedText } from '../tool/call/judge.ts';
import { isSandboxed } from '../tool/executor.ts';
import { undoOption } from '../tool/options.ts';
import { joinParts } from '../tool/parts.ts';
import { sandboxDirectory, sandboxJudgement } from '../tool/sandbox/options.ts';
import { COMMIT_FIELD } from '../tool/schema.ts';
import { callFolder, contextOf, optionsFor, setupFor, setupOf, type ToolSetup, toolFolder } from '../tool/setup.ts';
import type { BashApprovalCall, BashToolInput, BashToolOptions } from '../tool/types.ts';
import { askReason, askReasons, denyReason, type Rules, undoCover, undoReason } from './approval-reason.ts';
import { judgedCommands, strictest } from './judged-commands.ts';
import type { ApprovalInput, ApprovalOptions, ApprovalQuestion, BashApprovalJudgement } from './types.ts';

/** The terms that an approval judges every call by. */
export interface Terms {
  options: ApprovalOptions;
  /** The tool whose calls are judged. */
  setup: ToolSetup;
  /** The directory that commands start in. */
  folder: string;
  rules: Rules;
}

/** The judgement of a call, and what it was made from. */
export interface Judged {
  judgement: BashApprovalJudgement;
  /** Its commands, as the tool is given them. */
  commands: JudgedCommand[];
  /** The question for a person; `null` unless one is asked. */
  question: ApprovalQuestion | null;
  /** The options of the tool for this call; `null` if they are not known. */
  held: BashToolOptions | null;
}

/** One command of a call, with its judgement. */
export interface JudgedCommand {
  command: string;
  judgement: BashApprovalJudgement;
  reasons: string[];
  /** How far the command could be undone; `null` for a tool without undo, and if nobody is asked. */
  forecast: UndoForecast | null;
}

const UNASKED: BashApprovalJudgement = { verdict: 'allow', reason: '', analysis: null, decision: null };

/** Returns the terms of an approval. Throws `ERR_BASH_INVALID_ARG` for invalid options. */
export function termsOf(options: ApprovalOptions, ask: string[] = []): Terms {
  const { tool, cwd, allow, deny = [] } = options;
  const setup: ToolSetup | undefined = tool === undefined ? setupFor({}) : setupOf(tool);
  if (setup === undefined) {
    throw new BashError(
      'ERR_BASH_INVALID_ARG',
      'tool: it was not made by createBashTool, createTerminalTool or a provider tool of this package',
    );
  }
  const { target } = setup.options;
  const folder = cwd === undefined ? setup.folder : toolFolder({ cwd, target });
  const terms = { options, setup, folder, rules: { allow, ask, deny } };
  // Invalid options are reported here, not at the first call.
  decide(analyze(':', judgedWith(options, { ...setup.options, cwd: folder })), terms.rules);
  return terms;
}

/** Judges all commands of a call. The strictest judgement holds. */
export async function judgeCall(terms: Terms, input: ApprovalInput, call: BashApprovalCall): Promise<Judged> {
  const { setup, folder } = terms;
  try {
    const asked = judgedCommands(input);
    if (asked.length === 0) return { judgement: UNASKED, commands: [], question: null, held: null };
    const context = contextOf(call);
    const held = await optionsFor({ ...setup, folder }, { context, toolCallId: call.toolCallId ?? '' });
    const commands = await Promise.all(
      asked.map((each) => (each.draft_commit ? judgeCommit(terms, held) : judgeCommand(terms, each, held))),
    );
    const judgement = strictest(commands.map(({ judgement }) => judgement));
    const question = judgement.verdict === 'ask' ? questionOf(judgement, commands, held, call) : null;
    return { judgement, commands, question, held };
  } catch (error) {
    // Without valid options, or with an input that cannot be read, it is unknown what would run, where and how.
    return {
      judgement: { ...UNASKED, verdict: 'deny', reason: messageOf(error) },
      commands: [],
      question: null,
      held: null,
    };
  }
}

/** Returns the question about a call. All its commands run if a person approves. */
function questionOf(
  { reason }: BashApprovalJudgement,
  commands: JudgedCommand[],
  held: BashToolOptions,
  call: BashApprovalCall,
): ApprovalQuestion {
  const actor = actorOf(held, call.toolCallId);
  const analyses = commands.flatMap(({ judgement: { analysis } }) => analysis ?? []);
  const findings = analyses.flatMap(({ findings }) => findings);
  const covers = commands.flatMap(({ forecast }) => (forecast === null ? [] : undoCover(forecast)));
  const undo = (['none', 'part', 'full'] as const).find((cover) => covers.includes(cover));
  return {
    command: commands.map(({ command, judgement }) => judgement.analysis?.command ?? command).join('\n'),
    cwd: analyses[0]?.cwd ?? toolFolder(held),
    reason,
    verdict: 'ask',
    rules: unique(findings.map(({ ruleId }) => ruleId)),
    reasons: unique(commands.flatMap(({ reasons }) => reasons)),
    ...(actor && { actor }),
    ...(undo && { undo }),
    suggestRules: unique(commands.flatMap(({ judgement: { decision } }) => decision?.suggestRules ?? [])),
  };
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)];
}

/** Judges one command with the options that its tool would run it with. */
function judgeCommand({ options, folder, rules }: Terms, input: BashToolInput, held: BashToolOptions): JudgedCommand {
  const command = input.command as string;
  const text = judgedText(command, held);
  const place = options.cwd === undefined ? held : { ...held, cwd: folder };
  const judged: AnalyzeOptions & { [REACH]?: Reach } = judgedWith(options, place, input.cwd);
  const reach = reachOf(options, input, place);
  if (reach !== null) judged[REACH] = reach;
  const analysis = analyze(text, judged);
  const decision = decide(analysis, rules);
  const { verdict } = decision;
  if (verdict !== 'ask') {
    const reason = verdict === 'deny' ? denyReason(analysis, rules) : '';
    return { command, judgement: { verdict, reason, analysis, decision }, reasons: [], forecast: null };
  }
  const reasons = askReasons(analysis, decision, rules);
  const forecast = forecastOf(text, judged, held);
  const reason = askReason(analysis, decision, reasons, forecast === null ? '' : undoReason(forecast));
  return { command, judgement: { verdict, reason, analysis, decision }, reasons, forecast };
}

/** Judges the commit of a draft, about which a person is asked. Without `draft` nobody is, and the tool refuses it. */
async function judgeCommit({ options }: Terms, held: BashToolOptions): Promise<JudgedCommand> {
  const commit = options.draft ? await commitInWords(held) : null;
  const reasons = commit?.says.split('\n').filter((line) => line !== '') ?? [];
  const judgement: BashApprovalJudgement =
    commit === null
      ? UNASKED
      : { ...UNASKED, verdict: 'ask', reason: joinParts([`Commit the draft of ${visible(commit.root)}:`, ...reasons]) };
  return { command: COMMIT_FIELD, judgement, reasons, forecast: null };
}

/** Returns how far the command could be undone. `null` for a tool without undo, and for one on a target. */
function forecastOf(text: string, judged: AnalyzeOptions, held: BashToolOptions): UndoForecast | null {
  const undo = undoOption(held.undo);
  if (undo === undefined || undo === 'off' || isSandboxed(held) || held.target) return null;
  return innerOf(bash).undoForecast(text, judged, undo);
}

/** Returns the reach that a confinement leaves a command. `null` if the command is not confined or asks for more. */
function reachOf(options: ApprovalOptions, input: BashToolInput, held: BashToolOptions): Reach | null {
  const { tool, confined, draft } = options;
  // What a target can confine is known there.
  if (isSandboxed(held) || held.target || input.access != null) return null;
  if (held.draft) {
    // The tool opens its draft with the confinement by default, and what is changed below the root can be discarded.
    const isKnown = draft === true && held.draft === true;
    return isKnown ? innerOf(bash).reachOf({ ...held, confine: 'read-only' }, toolFolder(held)) : null;
  }
  if (!confined) return null;
  const place = tool === undefined ? { ...held, confine: 'workspace' as const } : withGrants(held);
  return innerOf(bash).reachOf(place, toolFolder(held));
}

/** Returns the engine's options: the tool's, overlaid with the approval's. */
function judgedWith(options: ApprovalOptions, tool: BashToolOptions, asked?: string | null): AnalyzeOptions {
  const there = isSandboxed(tool);
  const own = analyzeOptions(
    there
      ? sandboxJudgement({ ...tool, cwd: sandboxDirectory(tool.cwd, asked) })
      : { ...tool, cwd: callFolder(toolFolder(tool), asked) },
  );
  return {
    cwd: own.cwd,
    env: options.env ?? own.env,
    home: options.home ?? own.home,
    rules: { ...ASKED_RULES, ...own.rules, ...options.rules },
    wrappers: { ...own.wrappers, ...options.wrappers },
  };
}
