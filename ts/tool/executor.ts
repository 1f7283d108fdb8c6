import { posix } from 'node:path';
import { BashError, type BashOptions, type BashResult, type BashSession, bash, PtySession } from 'agent-bash';
import { definedOnly } from '../core/defined.ts';
import { innerOf } from '../core/inner.ts';
import { messageOf } from '../core/listener.ts';
import type { BashRunner, BashToolOptions, ToolSandbox, ToolSandboxSession } from './types.ts';

/** Stand-ins for a sandbox's directory and home while a command is judged: the real paths are unknown here. */
const FOLDER = '/sandbox';
const HOME = '/sandbox-home';

/** Options that affect a command and that a sandbox does not support. */
const NOT_THERE = ['args', 'stdin', 'merge', 'shell', 'limits', 'target'] as const;

/**
 * Returns the sandbox that commands run in, or `undefined` if they run on this machine or a `run` replaces `bash`.
 * Throws `ERR_BASH_INVALID_ARG` for a value that is not a sandbox.
 */
export function sandboxOf({ run, sandbox }: Pick<BashToolOptions, 'run' | 'sandbox'>): ToolSandbox | undefined {
  if (sandbox === undefined || run !== undefined) return undefined;
  if (isSession(sandbox) || typeof Object(sandbox).runCommand === 'function') return sandbox;
  throw new BashError('ERR_BASH_INVALID_ARG', 'sandbox: it has neither run, as a SandboxSession has, nor runCommand');
}

/**
 * Returns whether the sandbox is a `SandboxSession`. An object with both interfaces counts as one, because `spawn`
 * streams its output.
 */
export function isSession(sandbox: ToolSandbox): sandbox is ToolSandboxSession {
  return typeof Object(sandbox).run === 'function';
}

/**
 * Returns the directory of a call in a sandbox, or `undefined` for the sandbox's own. The path is only checked in the
 * sandbox.
 */
export function sandboxDirectory(folder: string | undefined, asked: string | null | undefined): string | undefined {
  // A value that is not a path is returned unchanged; the run then rejects it by name.
  if (asked == null || asked === '' || (folder !== undefined && typeof folder !== 'string')) return folder;
  return folder === undefined || posix.isAbsolute(asked) ? asked : posix.join(folder, asked);
}

/** Returns the options for judging a command. Nothing of this machine applies in a sandbox. */
export function sandboxJudgement<T extends Pick<BashOptions, 'cwd' | 'env'>>(options: T): T {
  const { cwd, env } = options;
  return {
    ...options,
    cwd: typeof cwd === 'string' ? posix.resolve(FOLDER, cwd) : FOLDER,
    inheritEnv: 'none',
    env: { HOME, ...env },
  };
}

/**
 * Refuses commands that `bash` refuses, and options that the sandbox cannot honour. Running the command without these
 * options would change it.
 */
export function checkSandboxOptions(command: string, options: BashOptions): void {
  innerOf(bash).check(command, options);
  const given: string[] = NOT_THERE.filter((name) => options[name] !== undefined);
  // The sandbox confines the commands that run in it, and records their changes.
  for (const name of ['confine', 'receipt', 'undo'] as const) {
    if (options[name] !== undefined && options[name] !== 'off') given.push(name);
  }
  if (options.mode === 'background') {
    throw new BashError(
      'ERR_BASH_UNSUPPORTED',
      'mode "background" does not work in this sandbox: start what is to go on with «&», its output sent to a file',
    );
  }
  if (given.length > 0) {
    throw new BashError('ERR_BASH_UNSUPPORTED', `in a sandbox there is no ${given.join(', ')}`);
  }
}

/** The answer to a model that asks for a background task of this machine. */
export const NO_TASKS =
  'check_pid, kill_pid and wait_pid know no processes of this sandbox: look at them and end them with commands (ps, kill)';

/** Returns a note for each of the tool's options that a sandbox overrides. */
export function overriddenOptions({ session, terminal }: BashToolOptions): string[] {
  const left = [session && 'session', terminal && 'terminal'].filter((name) => name !== undefined);
  return left.map((name) => `the command ran in the sandbox and not in the ${name} of this tool`);
}

type Env = NonNullable<BashOptions['env']>;

/** Returns the session that commands run in, or `undefined` if a sandbox or a `run` takes its place. */
export function sessionOf({ run, session, sandbox }: BashToolOptions): BashSession | undefined {
  if (session === undefined || run !== undefined || sandbox !== undefined) return undefined;
  // Checked by shape, not by class: another copy of this package may have created it.
  const { run: runs, options, cwd } = Object(session) as Partial<BashSession>;
  if (typeof runs === 'function' && typeof options === 'object' && typeof cwd === 'string') return session;
  throw new BashError('ERR_BASH_INVALID_ARG', 'session: it is not a BashSession');
}

/** Returns the options with the session's own options in the gaps and the session's directory as `cwd`. */
export function withSession(options: BashToolOptions): BashToolOptions {
  const session = sessionOf(options);
  if (session === undefined) return options;
  const own = definedOnly(options);
  const merged = { ...session.options, ...own, cwd: session.cwd };
  // A value that is not a record is left for the run to reject.
  if (isRecord(options.env)) merged.env = { ...session.options.env, ...options.env };
  return merged;
}

/** Returns a replacement for `bash` that runs each command in the session. */
export function sessionRunner(session: BashSession): BashRunner {
  const { env: first = {} } = session.options;
  return (command, given = {}) => {
    const { env } = given;
    return session.run(command, isRecord(env) ? { ...given, env: ownEnv(env, first) } : given);
  };
}

/** Returns `env` without the session's initial variables: a command may have changed those since. */
function ownEnv(env: Env, first: Env): Env {
  const differs = ([name, value]: [string, unknown]) => !Object.hasOwn(first, name) || first[name] !== value;
  return Object.fromEntries(Object.entries(env).filter(differs));
}

function isRecord(env: unknown): env is Env {
  return typeof env === 'object' && env !== null;
}

type Terminal = NonNullable<BashToolOptions['terminal']>;

const AT_ITS_LIMIT =
  'a command in a terminal cannot go on in the background: it was ended at its limit; mode "background" would have started it there';

/**
 * Returns the options of the terminal that commands run in, or `undefined` if they run without one: a `run` replaces
 * it, and a command with `stdin` has no use for it. Throws `ERR_BASH_INVALID_ARG` for a value of the wrong shape.
 */
export function terminalOf({ terminal, run, session, stdin, sandbox }: BashToolOptions): Terminal | undefined {
  if (terminal === undefined) return undefined;
  const { onStart } = Object(terminal) as Terminal;
  if (typeof terminal !== 'object' || terminal === null || (onStart !== undefined && typeof onStart !== 'function')) {
    throw new BashError('ERR_BASH_INVALID_ARG', 'terminal: it is not an object of cols, rows, onStart');
  }
  const elsewhere = [run, session, stdin, sandbox].some((place) => place !== undefined);
  return elsewhere || process.env.AGENT_BASH_NO_PTY === '1' ? undefined : terminal;
}

/**
 * Returns a replacement for `bash` that runs each command in a terminal drawn by the host. If no terminal can be
 * opened, the command runs without one, with a note.
 */
export function terminalRunner(terminal: Terminal): BashRunner {
  return async (command, given = {}) => {
    // An aborted call starts nothing, and no host draws a command in the background.
    if (given.signal?.aborted || given.mode === 'background') return bash(command, given);
    const { cols, rows } = terminal;
    const pty = new PtySession({
      ...terminalOptions(given),
      ...(cols !== undefined && { cols }),
      ...(rows !== undefined && { rows }),
    });
    try {
      await pty.start(command);
    } catch (error) {
      if ((error as Partial<BashError>).code !== 'ERR_BASH_UNSUPPORTED') throw error;
      return withNotes(await bash(command, given), [`the command ran without a terminal: ${messageOf(error)}`]);
    }
    const notes: string[] = [];
    shown(terminal, pty, command, (error) => notes.push(`onStart failed: ${messageOf(error)}`));
    const result = await pty.result();
    const moves = given.onTimeout === 'background' || (given.registry !== undefined && given.onTimeout !== 'kill');
    if (moves && result.status === 'timed-out') notes.push(AT_ITS_LIMIT);
    return withNotes(result, notes);
  };
}

/** Hands the terminal to the host in the same turn in which it was started, so that the host misses no output. */
function shown({ onStart }: Terminal, pty: PtySession, command: string, failed: (error: unknown) => void): void {
  try {
    // The type says void, but the callback may be asynchronous.
    const answer: unknown = onStart?.(pty, { command });
    if (answer instanceof Promise) answer.catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** Returns the options that a terminal takes, with the time limit that the command would have without one. */
function terminalOptions(given: BashOptions): BashOptions {
  const { mode, onTimeout, registry, merge, warm, ...rest } = given;
  return { ...rest, timeoutMs: given.timeoutMs ?? innerOf(bash).facts().request.modeLimitsMs[mode ?? 'default'] };
}

function withNotes(result: BashResult, notes: string[]): BashResult {
  return { ...result, notes: [...result.notes, ...notes] };
}
