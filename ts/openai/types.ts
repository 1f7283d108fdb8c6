import type { ProviderTool } from '../provider/types.ts';

/** What is to be run: commands for a shell, one after another. */
export interface ShellAction {
  commands: string[];
  /** The time limit of each command in ms, clamped to 1,000 … 3,600,000 with a note. Default: the tool's. */
  timeoutMs?: number | undefined;
  /** The most of each command's output, both streams together, in UTF-16 units. Default: the tool's `truncate` alone. */
  maxOutputLength?: number | undefined;
}

/** What the model sends to `openai.shell`. The schema takes the keys of the wire too (`timeout_ms`, `max_output_length`), and `null` for what is left out. */
export interface ShellInput {
  action: ShellAction;
}

/** What came of one command. */
export type ShellEntry = {
  stdout: string;
  /** What the command wrote there, and behind that, each in brackets, what else the model should know. Of a command that did not run: why. */
  stderr: string;
  /**
   * `exit`: 0 … 255, 128 + n after signal n, 130 after an abort, 126 when nothing ran. `timeout`: it reached its limit and was ended, or goes on in
   * the background (its pid and its log are in `stderr`), or, in preliminary results only, it still runs.
   */
  outcome: { type: 'exit'; exitCode: number } | { type: 'timeout' };
};

/** An entry a command, in their order. */
export interface ShellOutput {
  output: ShellEntry[];
  /** The one of the action, which the API wants to see again; left out where there was none. */
  maxOutputLength?: number;
}

/** What the model sends to `openai.local_shell`. The schema takes the keys of the wire too (`timeout_ms`, `working_directory`), and `null` for what is left out. */
export interface LocalShellInput {
  action: {
    type: 'exec';
    /** A program and its arguments; no shell reads them, unless the program is one. */
    command: string[];
    /** In ms, clamped to 1,000 … 3,600,000 with a note. Default: the tool's. */
    timeoutMs?: number | undefined;
    /** Whom to run as: nobody but the user of this process; for another one nothing runs. */
    user?: string | undefined;
    /** The folder to run in, resolved against the tool's. */
    workingDirectory?: string | undefined;
    /** Variables for this command. */
    env?: Record<string, string> | undefined;
  };
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
