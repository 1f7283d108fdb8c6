// The inputs of the tools that providers define, as models send them. Approvals read them, too, so this file lies below
// the adapters.

/**
 * The model's input: a command, a restart, or a restart followed by a command. `null` and unknown fields count as left
 * out.
 */
export interface AnthropicBashInput {
  /** The command, byte for byte. */
  command?: string | null | undefined;
  /** Resets the session, if there is one. */
  restart?: boolean | null | undefined;
}

/** Commands for a shell, to run one after another. */
export interface ShellAction {
  commands: string[];
  /** The time limit of each command in ms, clamped to 1,000 … 3,600,000 with a note. Default: the tool's. */
  timeoutMs?: number | undefined;
  /** Limit on each command's output, both streams together, in UTF-16 units. Default: the tool's `truncate` alone. */
  maxOutputLength?: number | undefined;
}

/**
 * The model's input to `openai.shell`. The schema also accepts the keys of the wire (`timeout_ms`,
 * `max_output_length`), and `null` counts as left out.
 */
export interface ShellInput {
  action: ShellAction;
}

/**
 * The model's input to `openai.local_shell`. The schema also accepts the keys of the wire (`timeout_ms`,
 * `working_directory`), and `null` counts as left out.
 */
export interface LocalShellInput {
  action: {
    type: 'exec';
    /** A program and its arguments. No shell reads them unless the program is one. */
    command: string[];
    /** In ms, clamped to 1,000 … 3,600,000 with a note. Default: the tool's. */
    timeoutMs?: number | undefined;
    /** The user to run as. Only the user of this process is accepted; for any other, nothing runs. */
    user?: string | undefined;
    /** The directory to run in, resolved against the tool's. */
    workingDirectory?: string | undefined;
    /** Variables for this command. */
    env?: Record<string, string> | undefined;
  };
}
