import { isAbsolute } from 'node:path';
import { BashError, bash } from 'agent-bash';
import { onAbort } from '../../core/abort.ts';
import { checkFunctions } from '../../core/functions.ts';
import { innerOf } from '../../core/inner.ts';
import { messageOf } from '../../core/listener.ts';
import { PLAIN } from '../../core/option-names.ts';
import { checked } from '../../sandbox/command.ts';
import type { CommandFinished, CommandRunner, RunParams } from '../../sandbox/types.ts';
import { checkOptionNames } from '../../tool/options.ts';
import { describeError, notStarted } from '../../tool/sandbox/process.ts';
import { needs } from '../shared/needs.ts';
import { KEPT_BYTES } from '../shared/tail.ts';
import { type Client, checkSession, SDK } from './client.ts';

/** Options of `acpRunner`. */
export interface AcpRunnerOptions {
  /**
   * The session whose terminals run the programs.
   *
   * @example acpRunner(client, { sessionId: params.sessionId })
   */
  sessionId: string;
  /**
   * Called once the client has made the terminal of a program, which is released at its end: the id for content of a
   * tool call, `{ type: 'terminal', terminalId }`.
   *
   * @default none
   * @example acpRunner(client, { sessionId, onTerminal: (terminalId) => show({ type: 'terminal', terminalId }) })
   */
  onTerminal?: ((terminalId: string, run: RunParams) => void) | undefined;
}

/** The exit code of a program that was ended by an abort. */
const ABORTED = 130;
/** The exit code of a program whose end is not known. */
const UNKNOWN = 255;

/**
 * Runs programs in the terminals of a client (ACP v1): a sandbox for `createBashTool`, whose commands then run where
 * the editor is. An abort kills, and each terminal is released. A terminal has one stream, `stdout`; its last 1 MiB is
 * kept, and `stderr` says if that is not all. The code is 128 + n after a signal, 130 after an abort, and 255 if the
 * client is gone or tells no end, with the reason in `stderr`. A directory must be absolute.
 *
 * Throws `ERR_BASH_UNSUPPORTED` if `client` has no `request`, and `ERR_BASH_INVALID_ARG` for invalid options. Nothing
 * could be run: rejects with the code in the client's `data.code` if it is ours, else with `ERR_BASH_SPAWN`.
 *
 * @example const bash = createBashTool({ sandbox: acpRunner(client, { sessionId }), cwd });
 * @param client the `client` of an agent's handler, or of its connection.
 */
export function acpRunner(client: Client, options: AcpRunnerOptions): CommandRunner {
  needs('client', client, ['request'], SDK);
  checkOptionNames('acpRunner', options, { sessionId: PLAIN, onTerminal: PLAIN });
  checkFunctions(innerOf(bash), { onTerminal: options.onTerminal });
  checkSession(options.sessionId);
  return {
    runCommand: async (given: string | RunParams, args?: string[]) =>
      runIn(client, options, checked(typeof given === 'string' ? { cmd: given, ...(args && { args }) } : given)),
  };
}

async function runIn(client: Client, options: AcpRunnerOptions, run: RunParams): Promise<CommandFinished> {
  const { sessionId } = options;
  const { signal } = run;
  if (run.cwd !== undefined && !isAbsolute(run.cwd)) {
    throw new BashError('ERR_BASH_UNSUPPORTED', `cwd: ${run.cwd} is relative, and a terminal has no place to start at`);
  }
  if (signal?.aborted) return finished(ABORTED, '', '');
  let terminalId: string;
  try {
    terminalId = await create(client, sessionId, run);
  } catch (error) {
    if (signal?.aborted) return finished(ABORTED, '', '');
    const { code } = Object(Object(error).data);
    throw notStarted(Object.assign(new Error(messageOf(error)), { code }));
  }
  const ask = <T>(method: string) => client.request<T>(`terminal/${method}`, { sessionId, terminalId });
  let forget: (() => void) | undefined;
  const lost = new Promise<never>((_, reject) => {
    const kill = () => void ask('kill').catch(reject);
    forget = signal && onAbort(signal, kill);
    if (signal?.aborted) kill();
  });
  lost.catch(() => {});
  try {
    tell(options, terminalId, run);
    const exit = await Promise.race([ask<Exit>('wait_for_exit'), lost]);
    const aborted = signal?.aborted;
    const { output, truncated } = await ask<{ output: string; truncated: boolean }>('output');
    const [code, why] = aborted ? [ABORTED, ''] : codeOf(exit);
    return finished(code, output, why + (truncated ? 'the client has kept only the end of the output\n' : ''));
  } catch (error) {
    if (signal?.aborted)
      return finished(ABORTED, '', `the client could not end the command: ${describeError(error)}\n`);
    return finished(UNKNOWN, '', `the client has lost the command: ${describeError(error)}\n`);
  } finally {
    forget?.();
    await ask('release').catch(() => {});
  }
}

async function create(client: Client, sessionId: string, { cmd, args, cwd, env, signal }: RunParams): Promise<string> {
  const params = {
    sessionId,
    command: cmd,
    args: args ?? [],
    env: Object.entries(env ?? {}).map(([name, value]) => ({ name, value })),
    ...(cwd !== undefined && { cwd }),
    outputByteLimit: KEPT_BYTES,
  };
  const cancel = signal && { cancellationSignal: signal };
  const { terminalId } = await client.request<{ terminalId: string }>('terminal/create', params, cancel);
  return terminalId;
}

/** The exit of a terminal. */
interface Exit {
  exitCode?: number | null;
  signal?: string | null;
}

/** Returns the code of an exit, and a line that says if there is none. */
function codeOf({ exitCode, signal }: Exit): [code: number, why: string] {
  const number = signal == null ? undefined : innerOf(bash).signalOf(signal)?.number;
  const code = exitCode ?? (number === undefined ? undefined : 128 + number);
  return code === undefined ? [UNKNOWN, 'the client has told no exit code\n'] : [code, ''];
}

function finished(exitCode: number, stdout: string, stderr: string): CommandFinished {
  return {
    exitCode,
    stdout: async () => stdout,
    stderr: async () => stderr,
    output: async (which = 'both') => (which === 'stderr' ? '' : stdout) + (which === 'stdout' ? '' : stderr),
  };
}

function tell({ onTerminal }: AcpRunnerOptions, terminalId: string, run: RunParams): void {
  try {
    onTerminal?.(terminalId, run);
  } catch (error) {
    process.emitWarning(`onTerminal failed: ${messageOf(error)}`, { code: 'AGENT_BASH_LISTENER' });
  }
}
