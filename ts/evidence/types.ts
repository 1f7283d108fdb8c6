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

/** Options of `readTests`. */
export interface ReadTestsOptions {
  /**
   * The command. If it names a runner, a terse summary such as `3 passed in 0.01s` counts, too. If it only shows files
   * or searches (`cat`, `grep`, `tail`), nothing counts. Default: the output alone decides.
   */
  command?: string;
  /**
   * The exit code; `null`: ended by a signal. A run that was killed, also with a code from 129 to 192, is not complete
   * where a runner prints a summary for each package, module or binary, since further ones could have followed.
   */
  exitCode?: number | null;
}
