import { isAbsolute } from 'node:path';
import { commandOf } from '../../tool/provider.ts';
import { Commands } from '../shared/commands.ts';
import { KEPT_BYTES } from '../shared/tail.ts';
import type { Run } from '../shared/types.ts';
import { connectionOf, Opened, type Request } from './client.ts';
import { type Acp, Errors } from './errors.ts';
import { type ExitStatus, Terminal } from './terminal.ts';

/** The params of `terminal/create`. */
interface Create {
  sessionId: string;
  command: string;
  args?: string[] | null;
  env?: { name: string; value: string }[] | null;
  cwd?: string | null;
  outputByteLimit?: number | null;
}

/** The params of the other methods. */
interface Named {
  sessionId: string;
  terminalId: string;
}

/** A request of an agent. */
type FromAgent<Params> = Request<Params> & { agent: object };

/** Answers `terminal/*` of a client. */
export interface AcpTerminals {
  /** Adds the handlers of `terminal/*` to a client app, before it connects, and returns the app. */
  register<A>(app: A): A;
  /**
   * Ends the terminals of a session, or all of them, with all that their commands have started. Their ids are gone.
   * Resolves when no process is left. The adapter can still be used.
   */
  close(sessionId?: string): Promise<void>;
}

/**
 * Answers the requests `terminal/*` of agents (ACP v1). A command starts in the `cwd` of the request, else in that of
 * the options, and has no limit unless the options set one. Without `args` it is a command line, with them a program
 * and its words. `terminal/output` has both streams in the order of writing, cleaned, with the unfinished line, and
 * after the end what the agent must know besides the exit code. `onOutput` and the result of `onAfterRun` have
 * progress lines in all their states.
 *
 * A terminal belongs to the session and the connection that made it, and ends with the connection. Errors are those of
 * the protocol, with our code in `data.code`: -32602 for wrong input, -32002 for a terminal that is not there, -32010
 * for a command that is refused.
 *
 * Throws `ERR_BASH_UNSUPPORTED` if `acp` lacks `RequestError`, and `ERR_BASH_INVALID_ARG` for invalid options.
 *
 * @example const app = acpTerminals(acp, { confine: 'workspace' }).register(acp.client());
 * @param acp the module `@agentclientprotocol/sdk`, from 2.0.
 */
export function acpTerminals(acp: Acp, options: Run = {}): AcpTerminals {
  const errors = new Errors(acp);
  const open = new Opened<Terminal>(new Commands('acpTerminals', options));
  return {
    register: (app) => register(app, errors, open),
    close: (sessionId) => open.end((terminal) => sessionId === undefined || terminal.sessionId === sessionId),
  };
}

function register<A>(given: A, errors: Errors, open: Opened<Terminal>): A {
  const app = open.within(given, 'agent');
  app.onRequest('terminal/create', (request: FromAgent<Create>) => create(request, errors, open));
  const on = (name: string, answer: (terminal: Terminal, signal: AbortSignal) => Promise<unknown>) =>
    app.onRequest(`terminal/${name}`, async ({ agent, params, signal }: FromAgent<Named>) => {
      const { sessionId, terminalId } = params;
      const terminal = open.find(agent, sessionId, (one) => one.terminalId === terminalId);
      if (terminal === undefined) throw errors.unknown(terminalId);
      return await answer(terminal, signal);
    });
  on('output', async (terminal) => terminal.output);
  on('wait_for_exit', exitOrAbort);
  on('kill', (terminal) => errors.answer(terminal.end()));
  on('release', (terminal) => {
    open.delete(terminal);
    return errors.answer(terminal.end());
  });
  return given;
}

async function create({ params, signal, agent }: FromAgent<Create>, errors: Errors, open: Opened<Terminal>) {
  const { sessionId, command, args, env, cwd, outputByteLimit } = params;
  const wrong = wrongIn(params);
  if (wrong !== undefined) throw errors.invalid(wrong);
  if (open.isClosed(agent)) throw errors.ended;
  const owner = { sessionId, connection: connectionOf(agent), outputByteLimit: outputByteLimit ?? KEPT_BYTES };
  const terminal = new Terminal(open.commands, owner, args?.length ? commandOf([command, ...args]) : command, {
    cwd: cwd ?? undefined,
    env: Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
    signal,
  });
  open.add(terminal);
  try {
    if (await terminal.started) return { terminalId: terminal.terminalId };
  } catch (error) {
    open.delete(terminal);
    throw errors.from(error);
  }
  open.delete(terminal);
  signal.throwIfAborted();
  throw errors.ended;
}

/** Returns what is wrong with params that no schema has checked. */
function wrongIn({
  command,
  args,
  env,
  cwd,
  outputByteLimit,
}: { [Name in keyof Create]?: unknown }): string | undefined {
  const isText = (value: unknown) => typeof value === 'string';
  const isVariable = (value: unknown) => isText(Object(value).name) && isText(Object(value).value);
  if (!isText(command)) return 'command: it is not a string';
  if (args != null && !(Array.isArray(args) && args.every(isText))) return 'args: it is not an array of strings';
  if (env != null && !(Array.isArray(env) && env.every(isVariable)))
    return 'env: it is not an array of { name, value }';
  if (cwd != null && !(typeof cwd === 'string' && isAbsolute(cwd)))
    return `cwd: ${JSON.stringify(cwd)} is not absolute`;
  const isLimit = Number.isSafeInteger(outputByteLimit) && (outputByteLimit as number) >= 0;
  return outputByteLimit == null || isLimit ? undefined : 'outputByteLimit: it is not a number of bytes';
}

/** Resolves at the exit. Rejects when the request is cancelled, which leaves the command alone. */
function exitOrAbort({ ended }: Terminal, signal: AbortSignal): Promise<ExitStatus> {
  return new Promise((resolve, reject) => {
    const cancel = () => reject(signal.reason);
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    ended.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancel));
  });
}
