import { BashError, type BashOptions, type BashSession, type bash } from 'agent-bash';
import { definedOnly } from '../core/defined.ts';
import type { BashToolOptions } from './types.ts';

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
export function sessionRunner(session: BashSession): typeof bash {
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
