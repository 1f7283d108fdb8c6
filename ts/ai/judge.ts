import { type AnalyzeOptions, analyze, BashError, type BashOptions } from 'agent-bash';
import type { BashToolOptions } from './types.ts';

/** What the engine has to know to judge a command as `bash()` does with these options. */
export function analyzeOptions({ cwd, env, inheritEnv, safety }: BashOptions): AnalyzeOptions {
  const { rules, wrappers } = typeof safety === 'object' ? safety : {};
  return { cwd, env: seen(env, inheritEnv), rules, wrappers };
}

/** What the shell runs, and so what is judged. */
export function judgedText(command: string, { prefix }: BashOptions): string {
  return prefix ? `${prefix} ${command}` : command;
}

/** The variables that a command sees, but for the secrets that are withheld and the defaults that are added; `undefined` is `process.env`. */
function seen(env: BashOptions['env'], inheritEnv: BashOptions['inheritEnv']): AnalyzeOptions['env'] {
  const names = Array.isArray(inheritEnv) ? inheritEnv : inheritEnv === 'none' ? [] : null;
  if (env === undefined && names === null) return undefined;
  const inherited = names === null ? process.env : Object.fromEntries(names.map((name) => [name, process.env[name]]));
  return {
    ...inherited,
    ...Object.fromEntries(Object.entries(env ?? {}).map(([name, value]) => [name, value ?? undefined])),
  };
}

/** The options for a call that a person has approved: what is asked about runs. What is denied is not for people to approve. */
export function approvedOptions(options: BashToolOptions): BashToolOptions {
  const { safety } = options;
  return typeof safety === 'object' ? { ...options, safety: { ...safety, onAsk: 'allow' } } : options;
}

/**
 * Judges a command that something else than `bash()` is to run, as `bash()` does: throws `ERR_BASH_BLOCKED` for one that is
 * refused, and gives the notes of one that runs.
 */
export function judge(command: string, options: BashOptions): string[] {
  const { safety = 'default' } = options;
  if (!isSafety(safety))
    throw new BashError(
      'ERR_BASH_INVALID_ARG',
      'safety: it is not one of default, off, or an object of rules, wrappers, onAsk',
    );
  if (safety === 'off') return [];
  const { verdict, findings } = analyze(judgedText(command, options), analyzeOptions(options));
  const refused = verdict === 'deny' || (verdict === 'ask' && typeof safety === 'object' && safety.onAsk === 'deny');
  if (refused) throw new BashError('ERR_BASH_BLOCKED', findings[0]?.message ?? verdict, undefined, findings);
  return findings.map(({ level, message, ruleId }) => `${level === 'ask' ? ASKS : 'warning'}: ${message} (${ruleId})`);
}

/** A mistyped name must not leave a guard as it is; the values are looked at by `analyze`. */
function isSafety(safety: unknown): boolean {
  if (typeof safety !== 'object' || safety === null) return safety === 'default' || safety === 'off';
  return Object.keys(safety).every((name) => ['rules', 'wrappers', 'onAsk'].includes(name));
}

/** How a note begins of what a person would be asked about, here and in the core. */
const ASKS = 'a person would be asked about this';

/** The notes of a call that a person has approved: there is nothing left to ask. */
export function approvedNotes(notes: string[]): string[] {
  return notes.filter((note) => !note.startsWith(`${ASKS}: `));
}
