import { homedir, isAbsolute, resolve } from '../core/builtins.ts';
import { loadNative } from '../core/native.ts';
import { REACH, type Reach } from '../core/world.ts';
import { BashError, type BashErrorCode } from '../errors.ts';
import { checkAnalyze, checkDecide } from '../options.ts';
import { ownEnvironment } from '../request.ts';
import type { Analysis, Decision, SafetyRule, Word } from './analysis.ts';
import { safetyTables } from './options.ts';
import type { AnalyzeOptions, DecideRules } from './types.ts';

/**
 * Analyzes a command without running it. The analysis lists every simple command at any depth, with its words after
 * expansion, its redirects and its directory, and the findings of the rules. The function reads no file, starts
 * nothing, takes microseconds, and returns for every text. A command that it cannot judge has `complete: false` and a
 * verdict of at least `'ask'`.
 *
 * The analysis guards against mistakes and is no boundary against malice: see docs/safety.md.
 *
 * @example const { verdict, findings } = analyze('git push --force', { cwd: '/srv/project' });
 * @param command any string; a syntax error or a NUL is a finding.
 * @param options see `AnalyzeOptions`; all may be left out. `onAsk` has no effect here.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for wrong types, and for an unknown option, rule, level or kind of
 * wrapper.
 */
export function analyze(command: string, options: AnalyzeOptions = {}): Analysis {
  checkAnalyze(command, options);
  const reach = (options as { [REACH]?: Reach })[REACH];
  const analysis = answerOf<CrossedAnalysis>(() =>
    loadNative().analyze(
      command,
      ...surroundings(command, options),
      safetyTables(options),
      reach && JSON.stringify(reach),
    ),
  );
  for (const unit of analysis.commands) {
    const { argv, redirects } = unit;
    for (let at = 0; at < argv.length; at++) argv[at] = wordOf(argv[at] as CrossedWord);
    for (const redirect of redirects) redirect.target = wordOf(redirect.target);
  }
  return analysis as Analysis;
}

/** Returns the directory, the home and the variables with which the addon judges a command. */
export function surroundings(
  command: string,
  options: AnalyzeOptions,
): [cwd: string, home: string, variables: string | null] {
  const env = options.env ?? process.env;
  return [directory(options.cwd), home(options, env), variables(command, env)];
}

/** A word as it crosses from the addon: a known one is its text alone. */
type CrossedWord = string | Word;

interface CrossedAnalysis extends Omit<Analysis, 'commands'> {
  commands: { argv: CrossedWord[]; redirects: { target: CrossedWord }[] }[];
}

function wordOf(word: CrossedWord): Word {
  return typeof word === 'string' ? { text: word, known: true } : word;
}

/**
 * Decides on an analysis by rules of the host, the strictest first:
 *
 * - `'deny'` if the analysis denies, or a deny rule matches any command in it, wrapped or not.
 * - `'ask'` if the analysis asks, or an ask rule matches.
 * - `'allow'` if all of it could be judged, and each command and each written file matches an allow rule. Commands that
 *   only read need none unless `allow` is empty. Without `allow` the analysis alone allows.
 * - `'ask'` otherwise.
 *
 * A rule is the words of a command (`'npm run build'`: exactly these), its first words (`'git log:*'`), written
 * files (`'write:src/**'`, relative to the directory of the analysis), or `'read-only'`, all commands that only read.
 * Deny and ask rules ignore the directory in a program's name and the global options of git. An allow rule does not
 * reach through `sudo`, `su` or `ssh`.
 *
 * @example decide(analyze('git log -3'), { allow: ['git log:*'] }).verdict; // 'allow'
 * @param analysis from `analyze`; may have been through JSON.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for wrong types, an unknown list, and a rule that can match nothing,
 *   such as one in the syntax of another tool (`npm *`, `Bash(npm publish:*)`, `/npm/`), with the rule that was meant.
 */
export function decide(analysis: Analysis, rules: DecideRules = {}): Decision {
  checkDecide(analysis, rules);
  const { allow = null, ask = [], deny = [] } = rules;
  return answerOf(() => loadNative().decide(JSON.stringify(analysis), allow, ask, deny));
}

/** Returns all rules of the engine, as docs/safety-rules.md lists them: a new array each time. */
export function safetyRules(): SafetyRule[] {
  return answerOf(() => loadNative().safetyRules());
}

/** Parses the JSON of the addon, which crosses much faster than objects, and throws its errors as a `BashError`. */
export function answerOf<T>(ask: () => string): T {
  try {
    return JSON.parse(ask()) as T;
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (error instanceof BashError || typeof code !== 'string') throw error;
    throw new BashError(code.startsWith('ERR_BASH_') ? (code as BashErrorCode) : 'ERR_BASH_INVALID_ARG', message);
  }
}

/** Returns the directory in which the command would start. A host whose own directory is gone can still ask. */
function directory(cwd: string | undefined): string {
  if (cwd?.includes('\0'))
    throw new BashError('ERR_BASH_INVALID_ARG', `cwd: ${JSON.stringify(cwd)} holds a NUL character`);
  try {
    return resolve(cwd ?? '.');
  } catch {
    return process.env.PWD ?? '/';
  }
}

/** Returns the user's home. `''` if there is none. */
function home({ home }: AnalyzeOptions, env: Record<string, string | undefined>): string {
  if (home) return home;
  if (env.HOME && isAbsolute(env.HOME)) return env.HOME;
  try {
    return homedir();
  } catch {
    return '';
  }
}

/**
 * Returns the variables that are needed to judge the command. Reading all of `process.env` takes several times as long
 * as the analysis of a short command, and without an expansion only the directory for temporary files counts.
 */
function variables(command: string, env: Record<string, string | undefined>): string | null {
  if (/[$~]/.test(command)) return ownEnvironment(env);
  return env.TMPDIR ? `TMPDIR=${env.TMPDIR}\0` : '';
}
