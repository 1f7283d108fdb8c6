import { resolve } from 'node:path';
import {
  type Analysis,
  type AnalyzeOptions,
  analyze,
  BashError,
  type BashOptions,
  bash,
  type SafetyOptions,
  type Target,
} from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { messageOf } from '../../core/listener.ts';
import { REACH, type Reach } from '../../core/world.ts';
import { checkOptionNames, innerOptions } from '../options.ts';
import type { BashToolError, BashToolOptions } from '../types.ts';

/** The exit code of a command that did not run, as shells have it for a program that cannot be run. */
export const NOT_RUN = 126;

/** What a model reads of a command that needs the consent of a person, where none can be asked. */
const CONSENT =
  'A person has to consent to this, and nobody can be asked here: nothing was run. The host can ask people ' +
  "(createToolApproval), or let such commands run (safety: { onAsk: 'allow' })";

/**
 * Returns an error in the form that the model reads. A foreign code (`ENOENT`) says nothing about the run and is
 * replaced.
 */
export function nothingRan(error: unknown, code: string): BashToolError {
  const { code: own, findings, missing } = Object(error) as Partial<BashError>;
  const asks = Array.isArray(findings) && findings[0]?.level === 'ask';
  return {
    error: asks ? `${messageOf(error)}. ${CONSENT}` : messageOf(error),
    code: typeof own === 'string' && own.startsWith('ERR_BASH_') ? own : code,
    ...(Array.isArray(findings) && { findings }),
    ...(Array.isArray(missing) && { missing }),
  };
}

/** The options that a judgement depends on. */
type Judged = Pick<BashOptions, 'affinity' | 'cwd' | 'env' | 'inheritEnv' | 'safety' | 'target'>;

/** Returns the options with which the safety engine judges a command as `bash()` does. */
export function analyzeOptions({ affinity, cwd, env, inheritEnv, safety, target }: Judged): AnalyzeOptions {
  const { rules, wrappers } = typeof safety === 'object' ? safety : {};
  const home = target && (innerOf(bash).placeOf(target, affinity) as Target | null)?.info?.home;
  // The login environment of a target is judged when the command runs.
  return { cwd, env: seen(env, target === undefined ? inheritEnv : 'none'), home, rules, wrappers };
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

/** The rules whose commands are refused where nobody can be asked, and asked about where a person can. */
export const ASKED_RULES: NonNullable<SafetyOptions['rules']> = { 'git-blind-add': 'ask' };

/**
 * Returns the options for a call that a person has approved: a command that would be asked about runs. A denied command
 * stays denied.
 */
export function approvedOptions(options: BashToolOptions): BashToolOptions {
  const { safety = 'default' } = options;
  if (safety === 'off') return options;
  const given = safety === 'default' ? {} : safety;
  return { ...options, safety: { ...given, rules: { ...ASKED_RULES, ...given.rules }, onAsk: 'allow' } };
}

/**
 * Returns the options for a call that no approval has decided about: a command that a person would be asked about is
 * refused, unless the host says otherwise.
 */
export function unattended<T extends Pick<BashOptions, 'safety'>>(options: T): T {
  const { safety = 'default' } = options;
  if (safety === 'default') return { ...options, safety: { onAsk: 'deny' } };
  if (typeof safety !== 'object' || safety === null) return options;
  return { ...options, safety: { ...safety, onAsk: safety.onAsk ?? 'deny' } };
}

/**
 * Judges a command that something other than `bash()` will run. Throws `ERR_BASH_BLOCKED` for a refused command.
 * Returns the notes of a command that runs.
 */
export function judge(command: string, options: BashOptions): string[] {
  const { safety = 'default' } = options;
  checkSafety(safety);
  if (safety === 'off') return [];
  const { verdict, findings } = analysisOf(command, options);
  const isRefused = verdict === 'deny' || (verdict === 'ask' && typeof safety === 'object' && safety.onAsk === 'deny');
  if (isRefused) throw new BashError('ERR_BASH_BLOCKED', findings[0]?.message ?? verdict, undefined, findings);
  return findings.map(({ level, message, ruleId }) => `${level === 'ask' ? ASKS : 'warning'}: ${message} (${ruleId})`);
}

/** Analyzes a command as it is judged before it runs. */
export function analysisOf(command: string, options: BashOptions): Analysis {
  const judged: AnalyzeOptions & { [REACH]?: Reach } = analyzeOptions(options);
  // Nobody has to be asked about what the confinement prevents.
  const reach = options.target ? null : innerOf(bash).reachOf(options, resolve(options.cwd ?? '.'));
  if (reach !== null) judged[REACH] = reach;
  return analyze(judgedText(command, options), judged);
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
