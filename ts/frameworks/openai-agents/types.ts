interface Reading {
  yieldTimeMs?: number | undefined;
  maxOutputTokens?: number | undefined;
}

/** The arguments of `exec` and `execCommand`. */
export interface ExecArgs extends Reading {
  cmd: string;
  workdir?: string | undefined;
  shell?: string | undefined;
  tty?: boolean | undefined;
  runAs?: string | undefined;
}

/** The arguments of `writeStdin`. */
export interface StdinArgs extends Reading {
  sessionId: number;
  chars?: string | undefined;
}

/** The answer of `exec`. */
export interface ExecResult extends Record<'output' | 'stdout' | 'stderr', string> {
  wallTimeSeconds: number;
  exitCode?: number;
  sessionId?: number;
  originalTokenCount?: number;
}

/** A session of the framework, as far as it is used. */
export interface Session {
  readonly state: {
    workspaceRootPath: string;
    environment: Record<string, string>;
    configuredExposedPorts?: number[];
  };
  readonly defaultShell?: string | undefined;
  execCommand(args: ExecArgs): Promise<string>;
  writeStdin(args: StdinArgs): Promise<string>;
  stop(): Promise<void>;
  assertSessionUsable(): void;
  resolveCommandWorkdir(path?: string): string;
  resolveRunAsIdentity(runAs?: string): Promise<{ isCurrentUser: boolean } | undefined>;
  translateCommandInput(command: string): string;
  translateCommandOutput(output: string): string;
}

// biome-ignore lint/suspicious/noExplicitAny: a class of the framework, with arguments of its own
type Class = new (...given: any[]) => object;

/** The part of `@openai/agents/sandbox/local` that is used. */
export interface Local {
  UnixLocalSandboxClient: Class;
  UnixLocalSandboxSession: Class;
  SandboxUnsupportedFeatureError: Class;
}
