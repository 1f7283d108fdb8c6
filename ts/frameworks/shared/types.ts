import type { BashOptions, BashResult } from 'agent-bash';
import type { BashToolOptions } from '../../tool/types.ts';

/** Options of an adapter whose framework has the tool: those of `bash()` for each command, an approval, and a hook. */
export type Run = BashOptions & {
  /**
   * Who decides about commands before they run.
   *
   * @default none: only what safety denies is refused
   */
  approval?: Approval | undefined;
  /**
   * Called after each command that ran to its end, and waited for. A throw or a rejection is a note in the result.
   *
   * @default none
   */
  onAfterRun?: ((run: { command: string; result: BashResult }) => void) | undefined;
};

/** Options of an adapter that makes the tool: those of `createBashTool`, and an approval. */
export type Tool = BashToolOptions & {
  /**
   * Who decides about commands before they run.
   *
   * @default none: only what safety denies is refused
   */
  approval?: Approval | undefined;
};

/** Rules about commands, as in `decide()`, and a person who is asked. With it, a command that asks needs a yes. */
export interface Approval {
  /**
   * Rules of commands that run unasked. With them, every command that no rule matches is asked about.
   *
   * @default none: the analysis alone allows
   */
  allow?: string[] | undefined;
  /**
   * Rules of commands that are asked about.
   *
   * @default []
   */
  ask?: string[] | undefined;
  /**
   * Rules of commands that are refused, unasked.
   *
   * @default []
   */
  deny?: string[] | undefined;
  /**
   * Asks a person, where the framework has no question of its own. An answer that cannot be read, an error and an
   * aborted question are no approval.
   *
   * @default none: a command that asks is refused
   */
  onAsk?: OnAsk | undefined;
}

/** Asks a person about a command. The signal aborts when the command is aborted. */
export type OnAsk = (question: Question, call: { signal: AbortSignal }) => Answer | Promise<Answer>;

/** A command about which a person is asked. The texts are plain, and written by a model: show them as text. */
export interface Question {
  /** The command, byte for byte. */
  command: string;
  /** The directory that it starts in, absolute. */
  cwd: string;
  /** The id that the framework gives the call; `''` if there is none. */
  toolCallId: string;
  /** All that a person needs, as one text: the command, its effect, the reasons to ask, and alternatives. */
  reason: string;
  /** The rules that `'always'` adds to `allow`. Empty if no rule would help. */
  suggestRules: string[];
}

/** An answer. `'always'` approves, and adds the suggested rules to `allow` of this adapter. */
export type Answer = boolean | 'always' | { approved: boolean | 'always'; reason?: string | undefined };
