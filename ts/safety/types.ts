import type { WrapperKind } from './analysis.ts';

/** Changes to the way in which commands are judged. */
export interface SafetyOptions {
  /**
   * Rules by their id: turned off, or set to another level. An unknown id is `ERR_BASH_INVALID_ARG`. At `'deny'` only
   * an exact finding denies. A less certain finding asks.
   *
   * @default {}
   * @example await bash('git add -A', { safety: { rules: { 'git-blind-add': 'off' } } });
   */
  rules?: Record<string, 'off' | 'warn' | 'ask' | 'deny'> | undefined;
  /**
   * Programs of your own that run other commands, by name. The commands that they run are judged too.
   *
   * @default {}
   * @example await bash('with-retries rm -rf build', { safety: { wrappers: { 'with-retries': 'exec-rest' } } });
   */
  wrappers?: Record<string, WrapperKind> | undefined;
  /**
   * The treatment of a command about which a person would be asked: `'allow'` runs it with a note, `'deny'`
   * refuses it like a denied one. What an approval of this package lets run runs, unless this is `'deny'`.
   *
   * @default 'allow' for `bash`, sessions and registries; 'deny' in tools for models, MCP and adapters of frameworks
   * @example await bash('git clean -fd', { safety: { onAsk: 'deny' } });
   */
  onAsk?: 'allow' | 'deny' | undefined;
}

/** Options of `analyze`. */
export interface AnalyzeOptions extends SafetyOptions {
  /**
   * The directory in which the command would start. It need not exist. A relative one is resolved against
   * `process.cwd()`.
   *
   * @default process.cwd()
   * @example analyze('rm -rf build', { cwd: '/home/ann/project' });
   */
  cwd?: string | undefined;
  /**
   * All variables that the command would see; `undefined` counts as not set.
   *
   * @default process.env
   * @example analyze('rm -rf "$BUILD"', { env: { BUILD: '/tmp/build' } });
   */
  env?: Record<string, string | undefined> | undefined;
  /**
   * The home directory of the user.
   *
   * @default `HOME` of `env`, else the user's home according to the system
   * @example analyze('rm -rf ~', { home: '/home/ann' });
   */
  home?: string | undefined;
}

/** The rules of `decide`. */
export interface DecideRules {
  /**
   * Commands and files that are allowed. With this list, everything else is asked about, except commands that only
   * read: `'read-only'` is a rule that every list has. It also covers builtins that affect nothing but their shell
   * (`cd`, `true`, `export`, `[`) and git commands that read, although a repository's settings may make them run a
   * program. With an empty list, every command is asked about.
   *
   * @default none: the analysis alone allows
   * @example decide(analysis, { allow: ['git log:*', 'npm test', 'write:src/**'] });
   */
  allow?: string[] | undefined;
  /**
   * Commands and files about which a person is asked. `'read-only'` here asks about commands that only read, too.
   *
   * @default []
   * @example decide(analysis, { ask: ['git push:*'] });
   */
  ask?: string[] | undefined;
  /**
   * Commands and files that are refused.
   *
   * @default []
   * @example decide(analysis, { deny: ['terraform destroy:*'] });
   */
  deny?: string[] | undefined;
}
