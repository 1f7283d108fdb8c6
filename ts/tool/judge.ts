import { type AnalyzeOptions, analyze, BashError, type BashOptions } from 'agent-bash';
import { checkOptionNames, innerOptions } from './option-names.ts';
import type { BashToolOptions } from './types.ts';

/** The options that a judgement depends on. */
type Judged = Pick<BashOptions, 'cwd' | 'env' | 'inheritEnv' | 'safety'>;

/** Returns the options with which the safety engine judges a command as `bash()` does. */
export function analyzeOptions({ cwd, env, inheritEnv, safety }: Judged): AnalyzeOptions {
  const { rules, wrappers } = typeof safety === 'object' ? safety : {};
  return { cwd, env: seen(env, inheritEnv), rules, wrappers };
}

/** Returns the text that the shell runs, which is also the text to judge. */
export function judgedText(command: string, { prefix }: Pick<BashOptions, 'prefix'>): string {
  return prefix ? `${prefix} ${command}` : command;
}

/**
 * Returns the variables that a command sees, except for withheld secrets and added defaults. `undefined` stands for
 * `process.env`.
 */
function seen(env: BashOptions['env'], inheritEnv: BashOptions['inheritEnv']): AnalyzeOptions['env'] {
  const names = Array.isArray(inheritEnv) ? inheritEnv : inheritEnv === 'none' ? [] : null;
  if (env === undefined && names === null) return undefined;
  const inherited = names === null ? process.env : Object.fromEntries(names.map((name) => [name, process.env[name]]));
  return {
    ...inherited,
    ...Object.fromEntries(Object.entries(env ?? {}).map(([name, value]) => [name, value ?? undefined])),
  };
}

/**
 * Returns the options for a call that a person has approved: a command that would be asked about runs. A denied command
 * stays denied.
 */
export function approvedOptions(options: BashToolOptions): BashToolOptions {
  const { safety } = options;
  return typeof safety === 'object' ? { ...options, safety: { ...safety, onAsk: 'allow' } } : options;
}

/**
 * Judges a command that something other than `bash()` will run. Throws `ERR_BASH_BLOCKED` for a refused command.
 * Returns the notes of a command that runs.
 */
export function judge(command: string, options: BashOptions): string[] {
  const { safety = 'default' } = options;
  checkSafety(safety);
  if (safety === 'off') return [];
  const { verdict, findings } = analyze(judgedText(command, options), analyzeOptions(options));
  const refused = verdict === 'deny' || (verdict === 'ask' && typeof safety === 'object' && safety.onAsk === 'deny');
  if (refused) throw new BashError('ERR_BASH_BLOCKED', findings[0]?.message ?? verdict, undefined, findings);
  return findings.map(({ level, message, ruleId }) => `${level === 'ask' ? ASKS : 'warning'}: ${message} (${ruleId})`);
}

/** A mistyped name must not leave a rule unchanged. `analyze` checks the values. */
function checkSafety(safety: unknown): void {
  if (safety === 'default' || safety === 'off') return;
  if (typeof safety !== 'object' || safety === null) {
    throw new BashError('ERR_BASH_INVALID_ARG', 'safety: it is not one of default, off, or an object of options');
  }
  checkOptionNames('safety', safety, innerOptions().bash.safety?.fields);
}

/** The start of a note about a command that a person would be asked about. The core writes the same words. */
const ASKS = 'a person would be asked about this';

/** Removes the notes that an approval has settled. */
export function approvedNotes(notes: string[]): string[] {
  return notes.filter((note) => !note.startsWith(`${ASKS}: `));
}
