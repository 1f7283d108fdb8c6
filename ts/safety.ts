import type { Analysis, Decision, SafetyRule } from './analysis';
import { homedir, isAbsolute, resolve } from './builtins';
import { BashError } from './errors';
import { loadNative } from './native';
import { checkAnalyze, checkDecide } from './options';
import { hostEnvironment } from './request';
import { toNativeTables } from './safety-options';
import type { AnalyzeOptions } from './types';

/**
 * Says what a command would do, without running anything: every simple command in it, at whatever depth, with its words after
 * expansion, its redirects and its folder, and what the rules find in it. It reads no file and starts nothing, takes
 * microseconds, and comes to an end for every text: what it cannot judge has `complete: false` and a verdict of at least `'ask'`.
 *
 * A guard against mistakes, not a boundary against malice: see docs/safety.md.
 *
 * @param command any string; a syntax error or a NUL is a finding.
 * @param options see `AnalyzeOptions`; all may be left out. `onAsk` has no effect here.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for wrong types and for a rule, level or kind of wrapper that there is not.
 */
export function analyze(command: string, options: AnalyzeOptions = {}): Analysis {
  checkAnalyze(command, options);
  const env = options.env ?? process.env;
  const tables = toNativeTables(options);
  return told(() =>
    loadNative().analyze(command, folder(options.cwd), home(options, env), variables(command, env), tables),
  );
}

/**
 * Decides on an analysis by rules of your own, the strictest first: `'deny'`, if the analysis denies or a deny rule matches any
 * command in it, wrapped or not; `'ask'`, if the analysis asks or an ask rule matches; else `'allow'`, if all of it could be
 * judged and each command and each file that is written matches an allow rule; else `'ask'`. Without `allow` the analysis alone
 * decides whether it is `'allow'`.
 *
 * A rule is the words of a command (`'npm run build'`: exactly these), its first words (`'git log:*'`), or files that are
 * written (`'write:src/**'`, relative to the folder of the analysis). Deny and ask rules ignore the folder in a program's name and
 * the global options of git. An allow rule does not look through `sudo`, `su` or `ssh`.
 *
 * @param analysis from `analyze`; may have been through JSON.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for wrong types and for a rule that can match nothing.
 */
export function decide(
  analysis: Analysis,
  rules: { allow?: string[] | undefined; ask?: string[] | undefined; deny?: string[] | undefined } = {},
): Decision {
  checkDecide(analysis, rules);
  const { allow = null, ask = [], deny = [] } = rules;
  return told(() => loadNative().decide(JSON.stringify(analysis), allow, ask, deny));
}

/** All rules of the engine, as docs/safety.md lists them: a new array each time. */
export function safetyRules(): SafetyRule[] {
  return told(() => loadNative().safetyRules());
}

/** The core answers with JSON, which crosses much faster than objects; its errors have a code and are none of ours. */
function told<T>(ask: () => string): T {
  try {
    return JSON.parse(ask()) as T;
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (error instanceof BashError || typeof code !== 'string') throw error;
    throw new BashError(code.startsWith('ERR_BASH_') ? code : 'ERR_BASH_INVALID_ARG', message);
  }
}

/** Where the command would start. A host whose own folder is gone can still ask. */
function folder(cwd: string | undefined): string {
  if (cwd?.includes('\0'))
    throw new BashError('ERR_BASH_INVALID_ARG', `cwd: ${JSON.stringify(cwd)} holds a NUL character`);
  try {
    return resolve(cwd ?? '.');
  } catch {
    return process.env.PWD ?? '/';
  }
}

/** The user's home; empty where there is none. */
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
 * What of the environment is needed to judge the command: reading all of `process.env` takes several times as long as the analysis of
 * a short command, and without an expansion only the folder for temporary files counts.
 */
function variables(command: string, env: Record<string, string | undefined>): string {
  if (/[$~]/.test(command)) return hostEnvironment(env);
  return env.TMPDIR ? `TMPDIR=${env.TMPDIR}\0` : '';
}
