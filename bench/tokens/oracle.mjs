// The oracle: the lines of an output that no view may lose. It knows nothing of src/reduce and imports nothing of it.

/** Names of failing tests, errors with a place, panics, fatal errors, and the lines that sum up. */
const LINES = [
  // Python
  /^(?:FAILED|ERROR) \S+(?:::|\.py)/,
  /^\S+::\S+ (?:FAILED|ERROR)\b/,
  /^(?:FAIL|ERROR): \w+ \(/,
  /^E {3,}\S/,
  /^Traceback \(most recent call last\):/,
  /^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception): /,
  /^FAILED \((?:failures|errors)=/,
  /^=+ .*\b\d+ (?:failed|errors?)\b.* =+$/,
  // Go
  /^\s*--- FAIL: /,
  /^FAIL\t/,
  /^panic: /,
  // Rust
  /^test .* \.\.\. FAILED$/,
  /^error(?:\[E\d+\])?: /,
  /^thread '.*' (?:\(\d+\) )?panicked at /,
  /^test result: FAILED/,
  // JavaScript
  /^\s*(?:✕|✗|✖|×) \S/,
  /^ ?FAIL {1,2}\S+/,
  /^not ok \d+/,
  /^\S+\(\d+,\d+\): error TS\d+/,
  /^\S+:\d+:\d+ - error TS\d+/,
  /^npm (?:ERR!|error) (?:code|errno)/,
  /^Tests?:? .*\b[1-9]\d* failed/,
  // C, make, linkers
  /^\S+:\d+(?::\d+)?: (?:fatal )?error:? /,
  /^make(?:\[\d+\])?: \*\*\* /,
  /^(?:\S*\/)?(?:ld|collect2|clang|gcc|rustc|cc1plus?): (?:fatal )?error/,
  /undefined reference to `/,
  // git and the shell
  /^fatal: /,
  /^CONFLICT \(/,
  /^(?:\S*\/)?(?:bash|sh|zsh): .*: (?:command not found|No such file or directory|Permission denied)$/,
  /^Segmentation fault/,
  // Java
  /^Exception in thread /,
  /^BUILD FAILED/,
  /^\[ERROR\] \S+\.java:\[/,
  /^E: (?:Unable|Package|Could)/,
];

/** The numbers, from 1, of the lines that must not be lost. */
export function guarded(text) {
  const found = [];
  text.split('\n').forEach((line, at) => {
    if (line.length < 1_000 && LINES.some((pattern) => pattern.test(line))) found.push(at + 1);
  });
  return found;
}

/** Returns the part that repeats of a line share: digits and hashes do not count. */
export const template = (line) => line.replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi, '#').replace(/\d+/g, '#');
