import { resolve } from 'node:path';
import { type BashOptions, bash, type Target } from 'agent-bash';
import { checkFunctions } from '../core/functions.ts';
import { innerOf } from '../core/inner.ts';
import { type OptionTableOf, PLAIN, unknownOption } from '../core/option-names.ts';
import { OWNER, type Owned } from '../core/world.ts';
import { invalid } from './errors.ts';
import type { SandboxOptions } from './types.ts';

/** The options of each of a sandbox's commands. A command's relative directory is resolved against `cwd`. */
export type Base = Omit<Partial<BashOptions>, 'target'> & { cwd: string; target?: Target | undefined } & Owned;

/** The options of a sandbox that `bash()` does not have. */
const OF_SANDBOXES: OptionTableOf<Omit<SandboxOptions, keyof BashOptions>> = { home: PLAIN };

/**
 * Returns a sandbox's directory, home and options, fixed at the call. Throws `ERR_BASH_INVALID_ARG` for invalid ones.
 */
export function baseOf(entry: string, options: SandboxOptions): { base: Base; home: string | undefined } {
  if (typeof options !== 'object' || options === null) throw invalid('options must be an object');
  const inner = innerOf(bash);
  const { bash: ofBash } = inner.options;
  const unknown = unknownOption(entry, options, { ...ofBash, ...OF_SANDBOXES });
  if (unknown !== null) throw invalid(unknown);
  const { home, ...rest } = options;
  if (options.mode === 'background')
    throw invalid('mode: a sandbox waits for its commands, "background" has no meaning there; start one detached');
  if (options.env !== undefined && (typeof options.env !== 'object' || options.env === null))
    throw invalid('env must be an object of strings, or null for a name to remove');
  const { onOutput, onSnapshot, onPrompt } = options;
  checkFunctions(inner, { onOutput, onSnapshot, onPrompt });
  checkTarget(options.target);
  const start = options.target?.info.cwd ?? process.cwd();
  const cwd = folderOf(options.cwd, 'cwd', start) ?? start;
  const { confine = inner.defaults.confine } = rest;
  return { base: { ...rest, confine, cwd, [OWNER]: inner.newOwner(cwd) }, home: folderOf(home, 'home', start) };
}

/** Throws `ERR_BASH_INVALID_ARG` for a target that is none, and for a pool: files are on one machine. */
export function checkTarget(target: unknown): asserts target is Target | undefined {
  const inner = innerOf(bash);
  if (!inner.isPool(target)) return inner.check(':', { target });
  throw invalid('target: a pool has no place of its own: give it one by `const { target } = await pool.acquire()`');
}

/** Throws `ERR_BASH_INVALID_ARG` for options of a sandbox that is of this machine by its name. */
export function checkLocal(entry: string, instead: string, options: unknown): void {
  if ((options as SandboxOptions | null)?.target === undefined) return;
  throw invalid(`target: ${entry} runs commands on this machine; ${instead} takes a target`);
}

/** Adds the home directory to the variables, beneath the sandbox's own. */
export function withHome(base: Base, home: string | undefined): Base {
  return { ...base, env: { ...(home === undefined ? {} : { HOME: home }), ...base.env } };
}

/** Returns the options of a sandbox's own commands, which read and write its files in the world of the others. */
export function diskBase(base: Base): Base {
  const { cwd, confine, signal, graceMs, target, [OWNER]: owner } = base;
  return { cwd, confine, signal, graceMs, target, safety: 'off', ...(owner && { [OWNER]: owner }) };
}

/** Returns whether the commands of a sandbox are confined. */
export function isConfined({ confine }: Pick<Base, 'confine'>): boolean {
  return confine !== undefined && confine !== 'off';
}

/** Returns the options with one more directory that confined commands may change. */
export function withWritable(base: Base, path: string): Base {
  const { confine } = base;
  if (confine === undefined || confine === 'off') return base;
  const given = typeof confine === 'string' ? { profile: confine } : confine;
  return { ...base, confine: { ...given, write: [...(given.write ?? []), path] } };
}

/** Returns what forbids a file to the methods of a sandbox, in errors. */
export function denialOf(base: Base): string {
  return isConfined(base) ? 'the confinement does' : 'the rights of its user there do';
}

function folderOf(path: unknown, name: string, start: string): string | undefined {
  if (path === undefined) return undefined;
  if (typeof path !== 'string') throw invalid(`${name} must be a string`);
  return resolve(start, path);
}
