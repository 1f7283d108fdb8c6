import type { BashToolModelOutput, BashToolOutput } from '../ai/types.ts';
import type { ProviderTool } from '../provider/types.ts';

/** What the model sends: a command, a restart, or a restart and then a command. `null` counts as left out, and so do fields that it does not know. */
export interface AnthropicBashInput {
  /** The command, byte for byte. */
  command?: string | null | undefined;
  /** Resets the session, if there is one. */
  restart?: boolean | null | undefined;
}

/** What came of a restart alone. */
export interface AnthropicRestart {
  /** Whether there was a session to reset. */
  restarted: boolean;
  /** What the model reads. */
  message: string;
}

/** What a call yields: that of a command, as `createBashTool` gives it, or of a restart. `'restarted' in` tells them apart. */
export type AnthropicBashOutput = BashToolOutput | AnthropicRestart;

/** `anthropic.bash_20250124`: `{ bash: anthropicBash() }` goes straight into `tools`. */
export interface AnthropicBashTool extends ProviderTool<AnthropicBashInput, AnthropicBashOutput> {
  /** The text of an output: `formatResult` of a result, the message of an error and of a restart. */
  toModelOutput: (options: {
    toolCallId?: string;
    input?: unknown;
    output: AnthropicBashOutput;
  }) => BashToolModelOutput;
}
