import { resolve } from 'node:path';
import type { BashOptions } from 'agent-bash';
import { invalid } from './errors.ts';
import type { LocalSessionOptions } from './types.ts';

/** What a sandbox gives to each of its commands. Relative folders of a command are resolved against `cwd`. */
export type Base = Partial<BashOptions> & { cwd: string };

/** The folder, the home and the options of a sandbox, fixed at the call. Throws `ERR_BASH_INVALID_ARG` for what cannot be. */
export function baseOf(options: LocalSessionOptions): { base: Base; home: string | undefined } {
  const { home, ...rest } = options;
  if (options.mode === 'background')
    throw invalid('mode: a sandbox waits for its commands, "background" has no meaning there; start one detached');
  if (options.env !== undefined && (typeof options.env !== 'object' || options.env === null))
    throw invalid('env must be an object of strings, or null for a name to remove');
  const cwd = folderOf(options.cwd, 'cwd') ?? process.cwd();
  return { base: { ...rest, cwd }, home: folderOf(home, 'home') };
}

/** The variables of a command, with the home folder beneath those of the sandbox. */
export function withHome(base: Base, home: string | undefined): Base {
  return { ...base, env: { ...(home === undefined ? {} : { HOME: home }), ...base.env } };
}

function folderOf(path: unknown, name: string): string | undefined {
  if (path === undefined) return undefined;
  if (typeof path !== 'string') throw invalid(`${name} must be a string`);
  return resolve(path);
}
