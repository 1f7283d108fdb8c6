/** What a command proved: the end of each of its parts, and the failures that its exit code does not show. */
export interface Evidence {
  /**
   * `'failed'`: the command did not end by itself, its exit code is not 0, a test failed, or a failure is masked.
   * `'unproven'`: no failure is known, but not every part is known to have ended well. Otherwise `'passed'`.
   */
  verdict: 'passed' | 'failed' | 'unproven';
  /** Why the verdict is not `'passed'`, in a sentence; otherwise `null`. */
  why: string | null;
  /**
   * How much `parts` knows. `'known'`: every process that the shell waited for. `'partial'`: some are missing, or a
   * failure has no certain place. `'unknown'`: the shell could not be watched, as one that is not bash, or linked
   * statically, or of macOS.
   */
  state: 'known' | 'partial' | 'unknown';
  /**
   * The programs that the command's own shell started or did not find, and what ran in a subshell: in the order of
   * their start, at most 50. If there are more, failed ones are kept first.
   */
  parts: Part[];
  /** The number of all parts. */
  partsTotal: number;
  /** Failures that the exit code of the command does not show, at most 20. */
  masked: Masked[];
  /**
   * The first command whose exit code is not known and whose failure the text can hide, if `state` is not `'known'` and
   * the command ended by itself. One in front of a pipe is preferred. Otherwise `null`.
   */
  notKnown: NotKnown | null;
  /** The counts of tests, one for each runner whose output was recognised. */
  tests: TestCounts[];
  /** The parts that check something, at most 8: tests, lints, types, builds. */
  checks: Check[];
  /** The whole output of a pipeline's first program; `null` if none was kept. */
  tap: Tap | null;
}

/** A part of a command that ran as a process of its own. */
export interface Part {
  /** Its source, at most 200 characters. */
  command: string;
  /**
   * Its place in the command: start and end in UTF-16 units. `null` for a part from elsewhere, as from `eval`, a file
   * that was sourced, an alias or a function of a session.
   */
  span: [number, number] | null;
  /** 0 … 255, as `$?` has it: 128 + n after signal n; `null` if it is not known, or the part still runs. */
  exitCode: number | null;
  /** The signal that ended it (`'SIGKILL'`), or `null`. */
  signal: string | null;
  /** How often the part ended like this, as in a loop. */
  times: number;
}

/** A failed part whose exit code the command did not take. */
export interface Masked extends Part {
  /**
   * What hides it: a later element of its pipeline, the right side of `||`, what ran after it, `&`, or `$(…)`.
   */
  by: 'pipe' | 'or' | 'sequence' | 'background' | 'substitution';
  /** The source of what ran in its place or after it; `null` with `'background'` and `'substitution'`. */
  behind: string | null;
}

/** A command whose exit code is not known, by the text. */
export interface NotKnown extends Pick<Masked, 'command' | 'span' | 'by' | 'behind'> {}

/** A part of a command that checks something. */
export interface Check {
  /** The same for the same words in the same directory, whatever is around them: `timeout 60`, `| tail`. */
  id: string;
  /** Its source, at most 200 characters. */
  command: string;
  /** The absolute directory in which it ran. */
  cwd: string;
  /** What it checks. */
  kind: 'test' | 'lint' | 'types' | 'build';
  /** The verdict of this part, whatever hides it. */
  verdict: Evidence['verdict'];
  /** The run of this check before this one, in this process; `null` if it is the first of those remembered. */
  last: CheckRun | null;
  /** The last run before this one that passed; `null` if none did. */
  lastPassed: CheckRun | null;
  /**
   * What changed from the end of `lastPassed` to the start of this run; `null` without one. `'unknown'` without the
   * option `evidence: 'tree'` for both.
   */
  since: Since | null;
  /**
   * The names of failed tests, compared with `last`: `fixed` failed then, `same` failed then and now, `appeared` fail
   * now. `null` if one of the two runs has no complete counts.
   */
  again: { fixed: string[]; same: string[]; appeared: string[] } | null;
}

/** One run of a check. */
export interface CheckRun {
  /** The name of the run, as in its result. */
  runId: string;
  /** The time of its end, Unix time in ms. */
  at: number;
  /** Its verdict. */
  verdict: Evidence['verdict'];
  /** Its exit code, 128 + n after signal n; `null` if it is not known. */
  exitCode: number | null;
}

/** The files that changed since a run. Files that git ignores do not count. */
export interface Since {
  /** How complete the list is. */
  state: 'known' | 'partial' | 'unknown';
  /** Why the state is not `'known'`, in a sentence; otherwise `null`. */
  why: string | null;
  /** The number of all changed files. */
  total: number;
  /** Their absolute paths, at most 20. */
  paths: string[];
}

/**
 * A run whose result was given again. The result has a `runId` of its own, the `evidence` of the run, and the `pid` 0,
 * or that of the filter.
 */
export interface Reused {
  /** The run that ran. */
  runId: string;
  /** The time of its end, Unix time in ms. */
  at: number;
  /** Whether its output went through another filter, which did run. */
  filtered: boolean;
  /** What was compared, in words. */
  checked: string[];
  /** What its result may depend on and was not compared. */
  notChecked: string[];
}

/** The whole output of the first program of a pipeline. */
export interface Tap {
  /** The source of the program. */
  command: string;
  /** Whether its output was kept. */
  kept: boolean;
  /** Why it was not kept, in a sentence; otherwise `null`. */
  why: string | null;
  /** The number of the output, for `recall` and `OutputStore.read`; 0 if it was not kept. */
  id: number;
  /** The absolute path of the file with the output, on the target of the command; `null` if it was not kept. */
  path: string | null;
  /** The number of lines that the program wrote until it ended, or its reader left. */
  lines: number;
  /** The number of bytes that it wrote. */
  bytes: number;
  /** Whether the file has all of it: neither did the reader leave before, nor was there too much. */
  complete: boolean;
}

/** The tests of one runner in an output. Plain data. */
export interface TestCounts {
  /** The runner, by the name of its rule: `'pytest'`, `'go-test'` … */
  runner: string;
  /** Passed tests, with flaky ones and unexpected passes. `null`: the runner does not print it, as `go test`. */
  passed: number | null;
  /** Failed tests, and errors: tests that could not begin, and files that could not be loaded. */
  failed: number;
  /** Skipped tests, with todo, ignored, excluded and pending ones and expected failures. `null`: not printed. */
  skipped: number | null;
  /** All tests but those that the runner's own total leaves out. `null`: not printed, and not the sum of the others. */
  total: number | null;
  /** Names of failed tests as the runner prints them, at most 50. */
  failures: string[];
  /** The number of names that were printed. Less than `failed`: the runner did not name them all. */
  failuresTotal: number;
  /** Whether the runner's summary was there. Without one, single lines were counted. */
  complete: boolean;
}

/** A check that ran in this process, as it stands now. Plain data. */
export interface Standing extends Pick<Check, 'id' | 'command' | 'cwd' | 'kind' | 'lastPassed' | 'since'> {
  /** Its last run. */
  run: CheckRun;
  /** Whether a file changed since the end of `run`. `null` if that is not known. */
  stale: boolean | null;
}

/** Options of `listChecks`. */
export interface ListChecksOptions {
  /**
   * Only checks that ran in this directory or below.
   *
   * @default none: all checks of the process
   * @example await listChecks({ cwd: '/work/app' });
   */
  cwd?: string | undefined;
}

/** Options of `readTests`. */
export interface ReadTestsOptions {
  /**
   * The command. If it names a runner, a terse summary such as `3 passed in 0.01s` counts, too. If it only shows files
   * or searches (`cat`, `grep`, `tail`), nothing counts.
   *
   * @default none: the output alone decides
   * @example readTests(stdout, { command: 'pytest -q' });
   */
  command?: string | undefined;
  /**
   * The exit code; `null`: ended by a signal. A run that was killed, also with a code from 129 to 192, is not complete
   * where a runner prints a summary for each package, module or binary, since further ones could have followed.
   *
   * @default none: the run was not killed
   * @example readTests(stdout, { exitCode: null });
   */
  exitCode?: number | null | undefined;
}
