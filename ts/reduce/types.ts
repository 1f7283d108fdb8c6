/** How far a reduction goes. See docs/tokens.md. */
export interface ReduceOptions {
  /**
   * `'lossless'` folds repeats, and leaves nothing out. `'salient'` also leaves out the lines that say least,
   * until the rest is within the budget.
   *
   * @default 'lossless'
   * @example reduceText(log, { level: 'salient' });
   */
  level?: 'lossless' | 'salient' | undefined;
  /**
   * The tokens that a view with `level: 'salient'` keeps within, by estimate. An output that reports a failure gets
   * four times as many, and lines that must stay are shown in any case.
   *
   * @default 1000
   * @example reduceText(log, { level: 'salient', budgetTokens: 500 });
   */
  budgetTokens?: number | undefined;
  /**
   * Files with your own rules for single tools, in the format of docs/tokens.md. They apply with `level: 'salient'`, in
   * addition to the shipped rules, such as the rule that leaves out the passed tests of pytest. A rule with the name of
   * a shipped rule replaces it. The files are read once per call. A file that cannot be read or used is
   * `ERR_BASH_INVALID_ARG`, with the file, the line and the reason. `false`: no rule applies.
   *
   * @default the shipped rules alone
   * @example reduceText(log, { level: 'salient', rules: ['rules/deploy.toml'] });
   */
  rules?: readonly string[] | false | undefined;
  /**
   * Lines that must stay: lines that contain one of these texts or match one of these expressions.
   *
   * @default none but failures and the last ten lines
   * @example reduceText(log, { level: 'salient', keep: ['checksum', /^deployed to /] });
   */
  keep?: readonly (string | RegExp)[] | undefined;
}

/** Options of `reduceText`. */
export interface ReduceTextOptions extends ReduceOptions {
  /**
   * The command that printed the text. Contents of files and differences stay as they are, and rules know whose output
   * it may be.
   *
   * @default not known
   * @example reduceText(stdout, { command: 'npm test' });
   */
  command?: string | undefined;
  /**
   * Its exit code, `null` if a signal or a limit ended it.
   *
   * @default not known
   * @example reduceText(stdout, { command: 'npm test', exitCode: 1 });
   */
  exitCode?: number | null | undefined;
  /**
   * Its standard error.
   *
   * @default ''
   * @example reduceText(stdout, { stderr });
   */
  stderr?: string | undefined;
}

/** Lines of an output that a view does not show, or not whole. */
export interface ElidedLines {
  stream: 'stdout' | 'stderr';
  /** The first of the lines, from 1, in the stream. */
  fromLine: number;
  toLine: number;
  /** `'budget'`, `'long'` for the middle of a long line, `'seen'`, or the name of a rule. */
  why: string;
}

/** The text that a model reads in place of an output. */
export interface View {
  text: string;
  /** The tokens of the output and of the text, by estimate. */
  tokens: { before: number; after: number };
  /**
   * `'exact'`: contents that a model edits or compares. `'red'`: something failed. `'green'`: all the rest.
   */
  class: 'exact' | 'red' | 'green';
  elided: ElidedLines[];
  /** The folds and rules that were used. */
  rules: string[];
  /** The number with which a model recalls the whole, 0 if it cannot. */
  id: number;
  /** The file with the whole, on the target of the command if it has one; `null` if no single file has it. */
  path: string | null;
}
