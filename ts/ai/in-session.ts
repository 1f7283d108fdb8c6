import { BashError, type BashOptions, type BashSession, type bash } from 'agent-bash';
import type { BashToolOptions } from './types.ts';

type Env = NonNullable<BashOptions['env']>;

/** The session that commands run in; a sandbox, and what takes the place of `bash`, take its place, too. */
export function sessionOf({ run, session, sandbox }: BashToolOptions): BashSession | undefined {
  if (session === undefined || run !== undefined || sandbox !== undefined) return undefined;
  // Not by its class: another copy of this package may have made it.
  const { run: runs, options, cwd } = Object(session) as Partial<BashSession>;
  if (typeof runs === 'function' && typeof options === 'object' && typeof cwd === 'string') return session;
  throw new BashError('ERR_BASH_INVALID_ARG', 'session: it is not a BashSession');
}

/** With a session, what that was made with holds where the tool says nothing, and its folder in place of the tool's. */
export function withSession(options: BashToolOptions): BashToolOptions {
  const session = sessionOf(options);
  if (session === undefined) return options;
  const own = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const merged = { ...session.options, ...own, cwd: session.cwd };
  // What is no record is left for the run to name.
  if (isRecord(options.env)) merged.env = { ...session.options.env, ...options.env };
  return merged;
}

/** Runs commands as `bash` does, each in the session. */
export function sessionRunner(session: BashSession): typeof bash {
  const { env: first = {} } = session.options;
  return (command, given = {}) => {
    const { env } = given;
    return session.run(command, isRecord(env) ? { ...given, env: ownEnv(env, first) } : given);
  };
}

/** Without what the session has from its beginning: a command may have changed that since. */
function ownEnv(env: Env, first: Env): Env {
  const differs = ([name, value]: [string, unknown]) => !Object.hasOwn(first, name) || first[name] !== value;
  return Object.fromEntries(Object.entries(env).filter(differs));
}

function isRecord(env: unknown): env is Env {
  return typeof env === 'object' && env !== null;
}
