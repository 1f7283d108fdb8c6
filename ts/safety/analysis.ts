/**
 * The treatment of a command, from the mildest to the strictest: it runs, it runs with a note, a person is asked, it
 * does not run.
 */
export type Verdict = 'allow' | 'warn' | 'ask' | 'deny';

/**
 * How a program runs another command. `'exec-rest'`: the words after its options are the command (sudo, env, nice).
 * `'shell-string'`: one word is a script (bash -c, eval). `'stdin-script'`: a script comes on its standard input (bash,
 * ssh). `'per-item'`: its words begin a command that runs once for each item (xargs, parallel).
 */
export type WrapperKind = 'exec-rest' | 'shell-string' | 'stdin-script' | 'per-item';

/** The effect of a command, as far as its text, its directory and its environment tell. Plain data. */
export interface Analysis {
  /** The command as it was given. */
  command: string;
  /** The directory in which it starts, absolute. */
  cwd: string;
  /** The level of the strictest finding; `'allow'` without one. */
  verdict: Verdict;
  /**
   * Whether all of the command could be judged. A NUL, a syntax error or a limit of the engine has a finding
   * `incomplete`.
   */
  complete: boolean;
  /**
   * Whether the command only reads. `'unknown'` for a program named by its path, which may be a different program, and
   * for git, which may run code on a read.
   */
  readOnly: 'yes' | 'no' | 'unknown';
  /** The findings, the strictest first. */
  findings: Finding[];
  /** Every simple command, at any depth, in the order of the text. */
  commands: CommandUnit[];
}

/** A reason why a command does not simply run. */
export interface Finding {
  /** The rule, in kebab-case; see `safetyRules()`. */
  ruleId: string;
  /** The level of the finding. */
  level: Verdict;
  /**
   * `'exact'`: the command does it if it runs at all. `'partial'`: it does if a guess is right. `'opaque'`: the code
   * that would run cannot be seen. Only an exact finding denies.
   */
  confidence: 'exact' | 'partial' | 'opaque';
  /** The place in the command: half-open, in UTF-16 units. For code inside a word (`bash -c '…'`) the whole word. */
  span: [number, number];
  /** The words of the simple command, after expansion. */
  argv: string[];
  /** The way to the command; see `CommandUnit.via`. */
  via: string[];
  /** A sentence that names the problem and a remedy. */
  message: string;
  /** A command to use instead, which the engine lets through; `''` if there is none. */
  suggestion: string;
}

/** A simple command. */
export interface CommandUnit {
  /**
   * The name of the program without its directory; `null` if it is not known, or if there are only assignments or
   * redirects.
   */
  name: string | null;
  /** The program as written; `null` in the same cases. */
  path: string | null;
  /** The words, the program first, without the wrappers before it. */
  argv: Word[];
  /** The words of wrappers before it in the same command: `sudo`, `-u`, `root`. */
  prefix: string[];
  /** `NAME=value` before it. */
  assignments: string[];
  /** The redirects, including the redirects of a group around the command. */
  redirects: CommandRedirect[];
  /** The absolute directory in which the command runs, after each `cd` before it. `null` if it is not known. */
  cwd: string | null;
  /**
   * The chain of nesting around it, the outermost first: `sudo`, `bash -c`, `heredoc`, `xargs` …. Empty for a command
   * of the text itself.
   */
  via: string[];
  /** The place in the command, as in a `Finding`. */
  span: [number, number];
  /** The command as it is written. */
  source: string;
  /** Whether the command only runs other commands, all of which are listed: `bash -c '…'`, a function of the script. */
  wrapper: boolean;
  /**
   * Whether this command only reads, its redirects included. `'unknown'` for a program that is named by a path, and for
   * git commands during which a repository's settings may run code.
   */
  readOnly: 'yes' | 'no' | 'unknown';
}

/** A redirect. */
export interface CommandRedirect {
  /** The operator: `>`, `>>`, `<`, `<<`, `<<<`, `&>` …. */
  op: string;
  /** The descriptor before the operator; `null` without one. */
  fd: number | null;
  /** The file, descriptor, here-string or delimiter. */
  target: Word;
  /** The file, absolute; `null` if it is not known or there is none. */
  path: string | null;
}

/** A word after its expansion. */
export interface Word {
  /** The text; as it is written if it is not known. */
  text: string;
  /** Whether the program gets exactly `text`. */
  known: boolean;
}

/** The answer of `decide`. */
export interface Decision {
  /** Whether the command may run, a person is asked, or it may not run. */
  verdict: 'allow' | 'ask' | 'deny';
  /**
   * The parts that no allow rule matches: the text of each command, and `write:PATH` for each file that is written.
   * Empty without an `allow` list.
   */
  unmatched: string[];
  /**
   * Allow rules for the unmatched parts, which would allow this command and similar ones. Wrappers,
   * interpreters and the text of a heredoc get no rule, and neither does a command about which the analysis itself
   * asks.
   */
  suggestRules: string[];
  /**
   * For commands in `unmatched`: the nearest allow rule for the same program and subcommand, and the part that does not
   * match, in words. Missing if no rule is near.
   */
  nearest?: { command: string; rule: string; why: string }[];
}

/** A rule of the engine. */
export interface SafetyRule {
  /** The stable id in kebab-case. */
  id: string;
  /** The level of its findings, unless `SafetyOptions.rules` sets another. */
  level: Verdict;
  /** One or two sentences on the commands that it stops, and why. */
  doc: string;
  /** Commands with a finding of this rule. */
  matches: string[];
  /** Similar commands without one. */
  passes: string[];
}
