import type { LocalShellInput, ShellInput } from '../tool/provider.ts';
import type { ProviderTool } from '../tool/types.ts';

/** The output of one command. */
export type ShellEntry = {
  stdout: string;
  /**
   * Standard error of the command, followed by facts for the model, each in brackets. For a command that did not run,
   * the reason.
   */
  stderr: string;
  /**
   * `exit`: 0 … 255, 128 + n after signal n, 130 after an abort, 126 if nothing ran. `timeout`: the command reached its
   * limit and was ended, or goes on in the background (its pid and its log are in `stderr`), or, in preliminary results
   * only, still runs.
   */
  outcome: { type: 'exit'; exitCode: number } | { type: 'timeout' };
};

/** An entry a command, in their order. */
export interface ShellOutput {
  output: ShellEntry[];
  /** The value of the action, which the API expects back. Left out if the action had none. */
  maxOutputLength?: number;
}

/** The text that the model reads. */
export interface LocalShellOutput {
  output: string;
}

/** `openai.shell`: `{ shell: openaiShell() }` goes straight into `tools`. */
export type OpenaiShellTool = ProviderTool<ShellInput, ShellOutput>;

/** `openai.local_shell`: `{ local_shell: openaiLocalShell() }` goes straight into `tools`. */
export type OpenaiLocalShellTool = ProviderTool<LocalShellInput, LocalShellOutput>;

/** A shell for `shellTool` of `@openai/agents`. */
export interface AgentsShell {
  /** Runs the commands of an action, a `ShellAction` with any of its keys. Never rejects. */
  run(action: unknown): Promise<ShellOutput>;
}
