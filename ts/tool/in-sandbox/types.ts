/** A command for a sandbox session. */
export interface SandboxCommand {
  /** Run by the shell of the sandbox. */
  command: string;
  /** The directory to start in, if not the session's own. */
  workingDirectory?: string;
  env?: Record<string, string>;
  abortSignal?: AbortSignal;
}

/** A command that a session has spawned, as far as the tool looks at it. */
export interface SandboxCommandProcess {
  readonly pid?: number | undefined;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  wait(): PromiseLike<{ exitCode: number; confinement?: unknown }>;
  kill(): PromiseLike<void>;
}

/**
 * The part of a `SandboxSession` of ai 7 that the tool uses: `run`, or better `spawn`, whose output arrives while the
 * command runs.
 */
export interface ToolSandboxSession {
  /** For the description of the tool. */
  readonly description?: string;
  readonly run: (command: SandboxCommand) => PromiseLike<{
    exitCode: number;
    stdout: string;
    stderr: string;
    confinement?: unknown;
  }>;
  readonly spawn?: (command: SandboxCommand) => PromiseLike<SandboxCommandProcess>;
  /** Takes whole output that was cut. */
  readonly writeTextFile?: (file: { path: string; content: string; abortSignal?: AbortSignal }) => PromiseLike<void>;
}

/** A program that a command runner has run. */
export interface RunnerFinished {
  exitCode: number;
  /** How a local sandbox confined the program. */
  confinement?: unknown;
  stdout(): PromiseLike<string>;
  stderr(): PromiseLike<string>;
}

/** The part of a remote runner that the tool uses: `runCommand`, with one object. */
export interface ToolCommandRunner {
  runCommand(params: {
    cmd: string;
    args?: string[];
    cwd?: string;
    env?: Record<string, string>;
    signal?: AbortSignal;
  }): PromiseLike<RunnerFinished>;
  /** Takes whole output that was cut. */
  // biome-ignore lint/suspicious/noExplicitAny: runners take a Buffer, a string or either
  writeFiles?(files: { path: string; content: any }[]): PromiseLike<unknown>;
}

/** A place where the commands of a tool can run instead of this machine. */
export type ToolSandbox = ToolSandboxSession | ToolCommandRunner;
