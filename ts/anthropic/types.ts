import type { AnthropicBashInput } from '../tool/provider.ts';
import type { BashToolModelOutput, BashToolOutput, ProviderTool } from '../tool/types.ts';

/** The output of a restart alone. */
export interface AnthropicRestart {
  /** Whether there was a session to reset. */
  restarted: boolean;
  /** The text for the model. */
  message: string;
}

/**
 * The output of a call: of a command, as `createBashTool` gives it, or of a restart. `'restarted' in` tells them apart.
 */
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
