import { bash } from 'agent-bash';
import { createToolApproval } from '../../ai/approval.ts';
import type {
  ApprovalAnswer,
  ApprovalQuestion,
  AskPerson,
  BashApprovalJudgement,
  ToolApproval,
} from '../../ai/types.ts';
import { checkFunctions } from '../../core/functions.ts';
import { innerOf } from '../../core/inner.ts';
import { type OptionTableOf, PLAIN } from '../../core/option-names.ts';
import { checkOptionNames } from '../../tool/options.ts';
import type { BashApprovalCall, BashTool, BashToolInput } from '../../tool/types.ts';
import { noPlace } from './needs.ts';
import type { Answer, Approval, OnAsk } from './types.ts';

/** The options of an approval. */
export const OF_APPROVALS: OptionTableOf<Approval> = { allow: PLAIN, ask: PLAIN, deny: PLAIN, onAsk: PLAIN };

/** A call whose command is judged. */
export interface Asked {
  /** The framework's id of the call; `''` if there is none. */
  toolCallId: string;
  /**
   * The id by which the tool finds the decision.
   *
   * @default toolCallId
   */
  id?: string;
  signal?: AbortSignal | undefined;
  /** The options of this call, for the tool's `perCall`. */
  context?: unknown;
}

/** What becomes of a command. `decided`: where a person has to be asked, one was. */
export type Verdict = { runs: true; approved: boolean; decided: boolean } | { runs: false; reason: string };

const UNJUDGED = { verdict: 'allow', reason: '' } as const;
const NOBODY = 'a person has to be asked about this command, and nobody can be asked here: nothing was run';
const UNREADABLE = 'the answer is not true, false, "always" or { approved }: nothing was run';

/** Decides about the commands of one adapter by its rules, and asks a person where they say so. */
export class Approver {
  readonly #tool: BashTool;
  readonly #given: Approval | undefined;
  /** The rules that allow, those of `'always'` included. */
  readonly #allow: string[] | undefined;
  readonly #deny: string[];
  /** Whether an approval of the framework asks before a command arrives here. */
  #isAsked = false;

  /** Throws `ERR_BASH_INVALID_ARG` for a rule that matches nothing. */
  constructor(tool: BashTool, given: Approval | undefined) {
    checkApproval(given);
    this.#tool = tool;
    this.#given = given;
    this.#allow = given?.allow && [...given.allow];
    this.#deny = [...(given?.deny ?? [])];
    this.#approval(undefined);
  }

  /** Judges a command without asking anyone. */
  judge(input: BashToolInput, call: Asked): Promise<BashApprovalJudgement> {
    return this.#approval(undefined).judge(input, callOf(call));
  }

  /**
   * Decides about a command. `ask` replaces the approval's own question. The decision is left for the tool, which takes
   * it with the same id.
   */
  async decide(input: BashToolInput, call: Asked, ask: OnAsk | undefined = this.#given?.onAsk): Promise<Verdict> {
    if (this.#given === undefined && ask === undefined) {
      // Rules that were added forbid, and ask nobody.
      const { verdict, reason } = this.#deny.length > 0 ? await this.judge(input, call) : UNJUDGED;
      return verdict === 'deny' ? { runs: false, reason } : { runs: true, approved: false, decided: this.#isAsked };
    }
    const person: AskPerson = (question, { signal }) => this.#answer(question, call.toolCallId, signal, ask);
    const status = await this.#approval(person)(input, callOf(call));
    if (status === 'not-applicable') return { runs: true, approved: false, decided: true };
    if (status.type === 'approved') return { runs: true, approved: true, decided: true };
    return { runs: false, reason: status.reason };
  }

  /** Takes what arrives as asked about: the framework's own approval does that first. */
  leaveAsking(): void {
    this.#isAsked = true;
  }

  /** Adds rules that refuse. */
  forbid(rules: readonly string[]): void {
    for (const rule of rules) if (!this.#deny.includes(rule)) this.#deny.push(rule);
  }

  /** Adds rules that allow, if there are such rules: without `allow` nothing is asked about for want of one. */
  allowAlways(rules: readonly string[]): void {
    for (const rule of rules) if (!this.#allow?.includes(rule)) this.#allow?.push(rule);
  }

  async #answer(
    { command, cwd, reason, reasons, suggestRules }: ApprovalQuestion,
    toolCallId: string,
    signal: AbortSignal,
    ask: OnAsk | undefined,
  ): Promise<ApprovalAnswer> {
    if (ask === undefined) return { approved: false, reason: [...reasons, NOBODY].join('\n') };
    const answer = read(await ask({ command, cwd, toolCallId, reason, suggestRules }, { signal }));
    if (answer.approved === 'always') this.allowAlways(suggestRules);
    return { ...answer, approved: answer.approved !== false };
  }

  #approval(person: AskPerson | undefined): ToolApproval {
    return createToolApproval({
      tool: this.#tool,
      allow: this.#allow,
      ask: { rules: this.#given?.ask ?? [], person },
      deny: this.#deny,
      confined: true,
      draft: true,
    });
  }
}

/** Throws `ERR_BASH_INVALID_ARG` for an approval of another shape. Its rules are checked with the first judgement. */
function checkApproval(given: unknown): asserts given is Approval | undefined {
  if (given === undefined) return;
  const inner = innerOf(bash);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw inner.invalid('approval', given, 'an object of allow, ask, deny and onAsk');
  }
  const { allow, ask, deny, onAsk } = given as Record<string, unknown>;
  for (const [name, rules] of Object.entries({ allow, ask, deny })) {
    if (rules !== undefined && !Array.isArray(rules))
      throw inner.invalid(`approval.${name}`, rules, 'an array of rules');
  }
  checkFunctions(inner, { 'approval.onAsk': onAsk });
}

/**
 * Returns the rules of an approval whose framework asks in a way of its own, which `asks` tells. Throws
 * `ERR_BASH_INVALID_ARG` for an option that does not exist, and `ERR_BASH_UNSUPPORTED` for `onAsk`.
 */
export function rulesOnly(entry: string, given: Approval, asks: string): Omit<Approval, 'onAsk'> {
  checkOptionNames(entry, given, OF_APPROVALS);
  const { onAsk, ...rules } = given;
  if (onAsk !== undefined) throw noPlace('onAsk', asks);
  return rules;
}

/** Returns the call in the form of an approval. */
function callOf({ toolCallId, id = toolCallId, signal, context }: Asked): BashApprovalCall {
  return { toolCallId: id, abortSignal: signal, experimental_context: context };
}

/** Reads an answer. One that cannot be read is no approval. */
function read(given: Answer): { approved: boolean | 'always'; reason?: string | undefined } {
  const { approved, reason } =
    typeof given === 'object' && given !== null ? given : { approved: given, reason: undefined };
  if (typeof approved !== 'boolean' && approved !== 'always') return { approved: false, reason: UNREADABLE };
  return { approved, ...(typeof reason === 'string' && { reason }) };
}
