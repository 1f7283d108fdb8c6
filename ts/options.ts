import { BashError } from './errors';
import { handleOf } from './handle';
import type { AnalyzeOptions, BashLimits, BashOptions, SafetyOptions } from './types';

/** Throws when an option of this name may not have this value. */
export type Check = (value: unknown, name: string) => void;

const type =
  (wanted: 'string' | 'number' | 'boolean' | 'function'): Check =>
  (value, name) => {
    if (typeof value !== wanted) throw invalid(name, value, `a ${wanted}`);
  };

const oneOf =
  (...values: string[]): Check =>
  (value, name) => {
    if (typeof value !== 'string' || !values.includes(value)) throw invalid(name, value, `one of ${values.join(', ')}`);
  };

const record: Check = (value, name) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(name, value, 'an object');
};

const flagOr =
  (check: Check): Check =>
  (value, name) => {
    if (typeof value !== 'boolean') check(value, name);
  };

const fields =
  (checks: Record<string, Check>): Check =>
  (value, name) => {
    record(value, name);
    for (const key in checks) {
      const field = (value as Record<string, unknown>)[key];
      if (field !== undefined) checks[key]?.(field, `${name}.${key}`);
    }
  };

/** A whole number from `least` to `most`. */
export const wholeNumber =
  (least: number, most: number): Check =>
  (value, name) => {
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return;
    const bounds = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw invalid(name, value, `a whole number ${bounds}`);
  };

/** An `AbortSignal`, of whatever realm. */
export const isSignal: Check = (value, name) => {
  const signal = value as AbortSignal | null;
  if (typeof signal !== 'object' || signal === null || typeof signal.addEventListener !== 'function') {
    throw invalid(name, value, 'an AbortSignal');
  }
};

const strings: Check = (value, name) => {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw invalid(name, value, 'an array of strings');
  }
};

const LIMITS: Record<keyof BashLimits, Check> = {
  cpuSeconds: type('number'),
  memoryBytes: type('number'),
  processes: type('number'),
  openFiles: type('number'),
  fileBytes: type('number'),
};

/** A record of words that each have to be one of these; which names there are is checked by the core. */
const words =
  (...values: string[]): Check =>
  (value, name) => {
    record(value, name);
    for (const [key, word] of Object.entries(value as object)) {
      if (word !== undefined) oneOf(...values)(word, `${name}.${key}`);
    }
  };

const SAFETY: Record<keyof SafetyOptions, Check> = {
  rules: words('off', 'warn', 'ask', 'deny'),
  wrappers: words('exec-rest', 'shell-string', 'stdin-script', 'per-item'),
  onAsk: oneOf('allow', 'deny'),
};

/** A mistyped name must not leave a guard as it is. */
function onlyKnown(checks: Record<string, Check>, value: object, name: string): void {
  for (const key in value) {
    if (!Object.hasOwn(checks, key)) throw invalid(name, key, `one of ${Object.keys(checks).join(', ')}`);
  }
}

/** One line an option: what its value may be. Ranges are checked by the core. */
const CHECKS: Record<keyof BashOptions, Check> = {
  args: strings,
  cwd: (value, name) => {
    if (typeof value !== 'string' || value === '') throw invalid(name, value, 'the path of a folder');
  },
  env: (value, name) => {
    record(value, name);
    for (const [key, item] of Object.entries(value as object)) {
      if (item !== null && item !== undefined && typeof item !== 'string') {
        // The value may be a secret that only has the wrong type.
        throw new BashError(
          'ERR_BASH_INVALID_ARG',
          `env.${key} is a ${typeof item}; it must be a string, null or undefined`,
        );
      }
    }
  },
  inheritEnv: (value, name) =>
    Array.isArray(value) ? strings(value, name) : oneOf('safe', 'all', 'none')(value, name),
  mode: oneOf('default', 'slow', 'background'),
  timeoutMs: type('number'),
  onTimeout: oneOf('kill', 'background'),
  graceMs: type('number'),
  signal: isSignal,
  stdin: (value, name) => {
    if (typeof value !== 'string' && !(value instanceof Uint8Array))
      throw invalid(name, value, 'a string or a Uint8Array');
  },
  merge: type('boolean'),
  truncate: fields({
    keep: oneOf('tail', 'head', 'ends'),
    maxLines: type('number'),
    maxBytes: type('number'),
    maxChars: type('number'),
    headBytes: type('number'),
    tailBytes: type('number'),
  }),
  sanitize: flagOr(fields({ ansi: type('boolean'), progress: oneOf('collapse', 'keep') })),
  spill: flagOr(
    fields({ dir: type('string'), maxBytes: type('number'), retentionMs: type('number'), allocate: type('function') }),
  ),
  onOutput: type('function'),
  onSnapshot: type('function'),
  onPrompt: type('function'),
  snapshotIntervalMs: type('number'),
  registry: (value, name) => {
    const handle = handleOf(value);
    if (!handle) throw invalid(name, value, 'a BackgroundRegistry of this package');
    if (handle.closed) throw new BashError('ERR_BASH_CLOSED', 'registry: it is closed');
  },
  safety: (value, name) => {
    if (typeof value === 'string') return oneOf('default', 'off')(value, name);
    fields(SAFETY)(value, name);
    onlyKnown(SAFETY, value as object, name);
  },
  shell: type('string'),
  prefix: (value, name) => {
    if (typeof value !== 'string' || value.includes('\0'))
      throw invalid(name, value, 'a string without a NUL character');
  },
  snapshot: flagOr((value, name) => {
    if (typeof value !== 'string' || value === '') throw invalid(name, value, 'true, false or the path of an rc file');
  }),
  warm: type('boolean'),
  limits: (value, name) => {
    fields(LIMITS)(value, name);
    onlyKnown(LIMITS, value as object, name);
  },
};

/** Checks the types of all options, before anything else is done with them. */
export function checkOptions(command: unknown, options: unknown): asserts options is BashOptions {
  if (typeof command !== 'string') throw invalid('command', command, 'a string');
  record(options, 'options');
  const given = options as Record<string, unknown>;
  for (const key in given) {
    const value = given[key];
    if (value !== undefined && Object.hasOwn(CHECKS, key)) CHECKS[key as keyof BashOptions](value, key);
  }
  const { truncate } = given as BashOptions;
  if (truncate && truncate.keep === undefined) throw invalid('truncate.keep', undefined, 'one of tail, head, ends');
}

/** Checks a command and its options for something else than the core that runs it: the ranges, too, in the core's own words. */
export function checkElsewhere(command: unknown, options: unknown): void {
  checkOptions(command, options);
  if ((command as string).includes('\0')) {
    throw new BashError('ERR_BASH_INVALID_ARG', 'the command holds a NUL character, which no shell can be given');
  }
  const { timeoutMs, graceMs, spill } = options;
  if (timeoutMs !== undefined) wholeNumber(1, 86_400_000)(timeoutMs, 'timeoutMs');
  if (graceMs !== undefined) wholeNumber(0, 15_000)(graceMs, 'graceMs');
  const most = typeof spill === 'object' ? spill.maxBytes : undefined;
  if (most !== undefined) wholeNumber(1, Number.MAX_SAFE_INTEGER)(most, 'spill.maxBytes');
}

const ANALYZE: Record<keyof AnalyzeOptions, Check> = {
  ...SAFETY,
  cwd: CHECKS.cwd,
  env: CHECKS.env,
  home: type('string'),
};

/** Checks what `analyze` is called with; more names may be there, so that options can be shared. */
export function checkAnalyze(command: unknown, options: unknown): asserts options is AnalyzeOptions {
  if (typeof command !== 'string') throw invalid('command', command, 'a string');
  checkFields('options', options, ANALYZE);
}

const RULES = { allow: strings, ask: strings, deny: strings };

/** Checks what `decide` is called with; whether each rule can be one is checked by the core. */
export function checkDecide(analysis: unknown, rules: unknown): void {
  record(analysis, 'analysis');
  checkFields('rules', rules, RULES);
  onlyKnown(RULES, rules as object, 'rules');
}

/** Checks the fields of a small object of options, each by its own name. */
export function checkFields(name: string, options: unknown, checks: Record<string, Check>): void {
  record(options, name);
  for (const key in checks) {
    const value = (options as Record<string, unknown>)[key];
    if (value !== undefined) checks[key]?.(value, key);
  }
}

/** The error of a value that is not what it has to be. */
export function invalid(name: string, value: unknown, wanted: string): BashError {
  return new BashError('ERR_BASH_INVALID_ARG', `${name}: ${shown(value)} is not ${wanted}`);
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
