import type { BackgroundTask, BashResult, PtySession } from 'agent-bash';
import type { Listener } from './feed.ts';

/** The terminals of an agent. */
export interface AcpAgentTerminals {
  /** Adds the handler of `terminal/cancel` to an agent app, before it connects, and returns the app. */
  register<A>(app: A): A;
  /**
   * Returns the terminals of a session: the same ones until they are closed. Throws `ERR_BASH_CLOSED` if the
   * connection is closed.
   *
   * @param client the `client` of an agent's handler, or of its connection.
   */
  session(client: Listener, sessionId: string): AcpAgentSession;
}

/** The terminals of one session. After its `close` all but `background` and `close` reject with `ERR_BASH_CLOSED`. */
export interface AcpAgentSession {
  /**
   * Runs a command to its end, as `bash()` does with `merge`, and shows it. Without a limit here or in the options
   * there is none. Rejects, showing nothing, if nothing could be run: with `ERR_BASH_BLOCKED` for a refused command.
   *
   * @example const { terminalId, stdout, exitCode } = await session.run('npm test', { signal });
   */
  run(
    command: string,
    options?: { cwd?: string | undefined; timeoutMs?: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<BashResult & { terminalId: string }>;
  /**
   * Starts a task, in the `registry` of the options or in one of the session, and shows it. Resolves once it runs.
   * `onAfterRun` and `onOutput` do not hear tasks. Rejects as `run` does.
   *
   * @example const { terminalId } = await session.start('npm run dev');
   */
  start(command: string, options?: { cwd?: string | undefined }): Promise<{ terminalId: string; task: BackgroundTask }>;
  /**
   * Shows a terminal, which then ends with the session. Call it at once after its start: earlier output is not shown.
   * 80 columns and 24 rows are told unless others are given. Rejects with `ERR_BASH_INVALID_ARG`, showing nothing, for
   * a terminal that was not started.
   *
   * @example await pty.start(command); await session.attach(pty, { command, cwd });
   */
  attach(
    pty: PtySession,
    options: { command: string; cwd: string; cols?: number | undefined; rows?: number | undefined },
  ): Promise<{ terminalId: string }>;
  /** Returns the tasks whose end was not told yet, for the `background` of a `state_update`. */
  background(): { type: 'terminal'; terminalId: string }[];
  /**
   * Ends all terminals of the session, and all that its commands have left running. Tasks of a registry of the host go
   * on, and are no longer shown. Resolves when no process is left and each exit is told, for which a client has a
   * second. May be called again.
   */
  close(): Promise<void>;
}
