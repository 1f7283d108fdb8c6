import type { BashOptions, BashSession } from 'agent-bash';
import { definedOnly } from '../core/defined.ts';
import { executorOf } from './executor.ts';
import type { BashRunner, BashToolOptions } from './types.ts';

type Env = NonNullable<BashOptions['env']>;

/** Returns the options with the session's own options in the gaps and the session's directory as `cwd`. */
export function withSession(options: BashToolOptions): BashToolOptions {
  const executor = executorOf(options);
  if (executor.kind !== 'session') return options;
  const { session } = executor;
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
