import type { Analysis, AnalyzeOptions, BashOptions, Decision } from 'agent-bash';
import type { AnthropicBashInput, LocalShellInput, ShellInput } from '../tool/provider.ts';
import type { TerminalTool, TerminalToolInput } from '../tool/terminal/types.ts';
import type { BashApprovalCall, BashTool, BashToolInput, ProviderTool } from '../tool/types.ts';

/**
 * Options of `createToolApproval`. A wrong type, an impossible level or rule, and an option that does not exist
 * are `ERR_BASH_INVALID_ARG`.
 */
export interface ApprovalOptions extends AnalyzeOptions {
  /**
   * The tool whose calls these are, made by `createBashTool`, `createTerminalTool` or a provider entry of this package.
   * Its directory, environment and safety options apply here too, `perCall` included. An option given here replaces the
   * option of the tool.
   *
   * @default none: commands are judged as `bash()` with no options judges them
   * @example createToolApproval({ tool: bashTool, allow: ['git status:*'] });
   */
  tool?: BashTool | TerminalTool | ProviderTool | undefined;
  /**
   * Rules of commands that run unasked; see `decide`. With them, a person is asked about every command that no rule
   * matches.
   *
   * @default none: the analysis alone allows
   * @example createToolApproval({ allow: ['git log:*', 'npm test'] });
   */
  allow?: string[] | undefined;
  /**
   * Rules of commands about which a person is asked, or the host's own way of asking, or both in an object. A call that
   * has to ask then waits for the function. An answer that cannot be read, and an error, count as a no.
   *
   * @default no further rules, and the own way of asking of the SDK
   * @example createToolApproval({ ask: { rules: ['git push:*'], person: async () => ({ approved: false }) } });
   */
  ask?: string[] | AskPerson | { rules?: string[] | undefined; person?: AskPerson | undefined } | undefined;
  /**
   * Whether a person may answer on the page (`agent-bash ui --control`). A call that has to ask waits for the page and
   * for the function of `ask`, if there is one. The first answer counts, and the other question is withdrawn. With
   * neither an open page nor a function, the SDK's own way of asking is used, and so it is for a command that is too
   * long to be shown whole on the page (8 KiB). The ledger says who has decided.
   *
   * @default false
   * @example createToolApproval({ tool: bashTool, page: true });
   */
  page?: boolean | undefined;
  /**
   * Rules of commands that are refused, unasked.
   *
   * @default []
   * @example createToolApproval({ deny: ['terraform destroy:*'] });
   */
  deny?: string[] | undefined;
  /**
   * Whether the tool is confined, so that no person is asked about effects that its confinement prevents anyway:
   * changes outside of the writable places, signals to other processes, services and devices, and, if no host can be
   * reached, sending and publishing. Other effects are still asked about, such as deleting in the workspace, and a
   * denied command stays denied. With `tool`, the tool's own `confine` counts, and if it has none, nothing changes.
   * Without `tool`, the confinement is `'workspace'` in `cwd`. A call that asks for `access` is judged as if it were
   * not confined.
   *
   * @default false
   * @example createToolApproval({ tool: bashTool, confined: true });
   */
  confined?: boolean | undefined;
  /**
   * Whether a person is asked about the commit of a draft (`draft_commit` of a tool with `commit: 'ask'`), which is
   * refused otherwise. The question says what the draft of `tool` has changed. With `draft: true` of the tool, no
   * person is asked about files that a command removes or overwrites, wherever they are, nor about effects that the
   * confinement of the draft prevents. What git would lose is still asked about.
   *
   * @default false
   * @example createToolApproval({ tool: bashTool, draft: true });
   */
  draft?: boolean | undefined;
  /**
   * Has no effect here: an approval is where a person is asked.
   *
   * @default none
   * @example createToolApproval({ onAsk: 'deny' });
   */
  onAsk?: 'allow' | 'deny' | undefined;
}

/** A question for a person: may this call run? All texts are plain, and written by a model: show them as text. */
export interface ApprovalQuestion {
  /**
   * The command as the tool will run it, byte for byte; `draft_commit` for a commit. Several commands of one call stand
   * on lines of their own.
   */
  command: string;
  /** The directory that it starts in, absolute. */
  cwd: string;
  /**
   * All that a person needs, as one text: the command, its effect, the reasons to ask, how far it can be undone, and
   * alternatives. Characters that hide others are written out.
   */
  reason: string;
  /** The decision of the safety engine and the rules. */
  verdict: 'ask';
  /** The ids of the rules of the safety engine that say something about the command. */
  rules: string[];
  /** The reasons to ask, each a sentence on one line. */
  reasons: string[];
  /** Who asks: the `actor` of the tool, with the id of the call. Left out if neither is known. */
  actor?: BashOptions['actor'];
  /**
   * Whether an undo takes back all that the command changes in files, a part of it, or nothing. Left out for a tool
   * without undo.
   */
  undo?: 'full' | 'part' | 'none';
  /** The rules that an "always allow" would add to `allow`. Empty if no rule would help. */
  suggestRules: string[];
}

/** The answer of a person. */
export interface ApprovalAnswer {
  /** Whether the call runs. */
  approved: boolean;
  /** The person's words. The model reads them after a no. */
  reason?: string | undefined;
}

/**
 * The host's own way of asking a person. The signal aborts when the question is withdrawn: it was answered on the page,
 * or its call was aborted.
 */
export type AskPerson = (
  question: ApprovalQuestion,
  call: { signal: AbortSignal },
) => ApprovalAnswer | Promise<ApprovalAnswer>;

/**
 * The input that an approval judges: the input of any tool that runs commands. If there are several commands, the
 * strictest judgement applies to all.
 */
export type ApprovalInput = BashToolInput | TerminalToolInput | AnthropicBashInput | ShellInput | LocalShellInput;

/** The answer to ai 7 about a call. The person who is asked, or the model that is refused, reads the reason. */
export type BashApprovalStatus =
  | 'not-applicable'
  | { type: 'approved'; reason?: string }
  | { type: 'user-approval'; reason: string }
  | { type: 'denied'; reason: string };

/** The decision about a call, with everything that it was made from. */
export interface BashApprovalJudgement {
  verdict: 'allow' | 'ask' | 'deny';
  /** The text for the person who is asked or the model that is refused; `''` if the call runs. */
  reason: string;
  /**
   * The analysis of the command; `null` for `check_pid`, `kill_pid`, `wait_pid` and invalid input, which run nothing
   * and are never asked about, and for `draft_commit`.
   */
  analysis: Analysis | null;
  /** The decision of the rules. An "always allow" would add its `suggestRules`. `null` if `analysis` is. */
  decision: Decision | null;
}

/**
 * An approval of commands before they run. For ai 7 it is the entry of the tool in `toolApproval: { bash: approval }`.
 * For ai 6 its `needsApproval` is the `needsApproval` of the tool.
 */
export interface ToolApproval {
  (input: ApprovalInput, call?: BashApprovalCall): Promise<BashApprovalStatus>;
  /**
   * Whether a person is asked. A refused command is not asked about: the tool gives the reason in place of a result.
   */
  needsApproval: (input: ApprovalInput, call?: BashApprovalCall) => Promise<boolean>;
  /** Judges with everything that a person may want to see, for ai 6, whose requests carry no reason. */
  judge: (input: ApprovalInput, call?: BashApprovalCall) => Promise<BashApprovalJudgement>;
}
