/** What is to become of a command, from the mildest to the strictest: it runs; it runs, with a note; a person is asked; it does not run. */
export type Verdict = 'allow' | 'warn' | 'ask' | 'deny';

/**
 * How a program runs another command: the words after its options are the command (`'exec-rest'`: sudo, env, nice), a word of it is a
 * script (`'shell-string'`: bash -c, eval), a script comes on its standard input (`'stdin-script'`: bash, ssh), or its words begin
 * a command that is run for each item (`'per-item'`: xargs, parallel).
 */
export type WrapperKind = 'exec-rest' | 'shell-string' | 'stdin-script' | 'per-item';

/** What a command would do, as far as its text, its folder and its environment tell. Plain data. */
export interface Analysis {
  /** As it was given. */
  command: string;
  /** The folder that it starts in, absolute. */
  cwd: string;
  /** The strictest of its findings; `'allow'` without any. */
  verdict: Verdict;
  /** Whether all of it could be judged. What cannot be (a NUL, a syntax error, a limit of the engine) has a finding `incomplete`. */
  complete: boolean;
  /** Whether all of it only reads. A program named by its path is not taken for the one it is called, and git may run code on a read: both are `'unknown'`. */
  readOnly: 'yes' | 'no' | 'unknown';
  /** What was found, the strictest first. */
  findings: Finding[];
  /** Every simple command in it, at whatever depth, in the order of the text. */
  commands: CommandUnit[];
}

/** Why a command is not simply run. */
export interface Finding {
  /** The rule, in kebab-case; see `safetyRules()`. */
  ruleId: string;
  /** What it comes to. */
  level: Verdict;
  /** `'exact'`: the command does it if it runs at all. `'partial'`: if a guess is right. `'opaque'`: what would be run cannot be seen. Only an exact finding denies. */
  confidence: 'exact' | 'partial' | 'opaque';
  /** Where in the command: half-open, in UTF-16 units. Of code inside a word (`bash -c '…'`) it is that word. */
  span: [number, number];
  /** The words of the simple command that it is about, after expansion. */
  argv: string[];
  /** How that command is reached; see `CommandUnit.via`. */
  via: string[];
  /** What is wrong and what to do instead, one sentence. */
  message: string;
  /** A command to use instead, which the engine lets through; empty where there is none. */
  suggestion: string;
}

/** One simple command. */
export interface CommandUnit {
  /** The name of the program without its folder; `null` when it is not known or there is none (only assignments or redirects). */
  name: string | null;
  /** The head as it is written, or `null` in the same cases. */
  path: string | null;
  /** Its words, the head first, without the wrappers in front. */
  argv: Word[];
  /** The words of wrappers that stand in front of it in the same command: `sudo`, `-u`, `root`. */
  prefix: string[];
  /** `NAME=value` in front of it. */
  assignments: string[];
  /** Its redirects, those of a group around it included. */
  redirects: CommandRedirect[];
  /** The folder that it runs in, absolute, after each `cd` before it; `null` when it is not known. */
  cwd: string | null;
  /** The chain of nesting that it came through, the outermost first: `sudo`, `bash -c`, `heredoc`, `xargs` …. Empty for a command that stands in the text itself. */
  via: string[];
  /** Where in the command, as in a `Finding`. */
  span: [number, number];
  /** As it is written. */
  source: string;
  /** It only runs other commands, all of which are listed: `bash -c '…'`, a function of the script. */
  wrapper: boolean;
}

/** One redirect. */
export interface CommandRedirect {
  /** As it is written: `>`, `>>`, `<`, `<<`, `<<<`, `&>` …. */
  op: string;
  /** The descriptor, where one is written, else `null`. */
  fd: number | null;
  /** The file, descriptor, here-string or delimiter. */
  target: Word;
  /** The file, absolute; `null` when it is not known or none. */
  path: string | null;
}

/** A word after its expansion. */
export interface Word {
  /** Its text; where it is not known, as it is written. */
  text: string;
  /** Whether `text` is what the program gets. */
  known: boolean;
}

/** What `decide` comes to. */
export interface Decision {
  /** Whether the command may run, is to be asked about, or may not. */
  verdict: 'allow' | 'ask' | 'deny';
  /** What no allow rule matches: the text of each command, and `write:PATH` for each file that is written. Empty without an `allow` list. */
  unmatched: string[];
  /** Allow rules for what is unmatched, which would allow this command and others like it. Never for wrappers, interpreters, or what stands in a heredoc; none where the analysis itself asks. */
  suggestRules: string[];
}

/** One rule of the engine. */
export interface SafetyRule {
  /** In kebab-case, stable. */
  id: string;
  /** What a finding of it comes to, unless `SafetyOptions.rules` says otherwise. */
  level: Verdict;
  /** What it stops, and why: one or two sentences. */
  doc: string;
  /** Commands that it finds something in. */
  matches: string[];
  /** Commands that look alike, in which it finds nothing. */
  passes: string[];
}
