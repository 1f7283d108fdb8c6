// Checks of the values of options. The addon checks the ranges that it knows.
import { BashError } from '../errors.ts';
import { type OptionTable, type OptionTableOf, unknownOption } from './option-names.ts';

/**
 * Throws if an option of this name may not have this value. `fields` are the options of an option that is an object.
 */
export interface Check {
  (value: unknown, name: string): void;
  readonly fields?: OptionTable;
  /** The check of a number's range, which the addon makes in the end. */
  readonly range?: Check;
}

/** A check for each option of `T`. */
export type Checks<T> = OptionTableOf<T, Check>;

export const type =
  (wanted: 'string' | 'number' | 'boolean' | 'function', hint = ''): Check =>
  (value, name) => {
    if (typeof value !== wanted) throw invalid(name, value, `a ${wanted}`, hint);
  };

export const oneOf =
  (...values: string[]): Check =>
  (value, name) => {
    if (typeof value !== 'string' || !values.includes(value)) throw invalid(name, value, `one of ${values.join(', ')}`);
  };

export const record: Check = (value, name) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(name, value, 'an object');
};

/** An object with these options. */
export const fields = <T extends object>(checks: Checks<T>): Check =>
  Object.assign(
    (value: unknown, name: string) => {
      record(value, name);
      // JSON would hold other options than these.
      if (typeof (value as { toJSON?: unknown }).toJSON === 'function') throw invalid(name, value, 'a plain object');
      checkValues(value as object, checks, `${name}.`);
    },
    { fields: checks },
  );

/** The same check, which says what to write instead of a value that is no object. */
export const withHint = (hint: string, check: Check): Check =>
  Object.assign((value: unknown, name: string) => {
    if (typeof value !== 'object') throw invalid(name, value, 'an object', hint);
    check(value, name);
  }, check.fields && { fields: check.fields });

/** `true`, `false`, or what `check` lets through. */
export const flagOr = (check: Check): Check =>
  Object.assign(
    (value: unknown, name: string) => {
      if (typeof value !== 'boolean') check(value, name);
    },
    { fields: check.fields ?? {} },
  );

/** Accepts these words and any value that `check` accepts. */
export const wordOr = (words: readonly string[], check: Check): Check => {
  const others = check.fields ? `, or an object with ${Object.keys(check.fields).join(', ')}` : '';
  return Object.assign((value: unknown, name: string) => {
    if (typeof value !== 'string') check(value, name);
    else if (!words.includes(value)) throw invalid(name, value, `one of ${words.join(', ')}${others}`);
  }, check.fields && { fields: check.fields });
};

/** A whole number from `least` to `most`. */
export const wholeNumber =
  (least: number, most = Number.MAX_SAFE_INTEGER): Check =>
  (value, name) => {
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return;
    const bounds = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw invalid(name, value, `a whole number ${bounds}`);
  };

/** A number. The addon checks that it is whole and in its range, and so does `checkRanges`. */
export const ranged = (least: number, most?: number): Check =>
  Object.assign((value: unknown, name: string) => type('number')(value, name), { range: wholeNumber(least, most) });

/** Checks the ranges of numbers, for something else than the addon that reads the options. */
export function checkRanges(options: object, checks: OptionTable, within = ''): void {
  for (const [name, { fields, range }] of Object.entries(checks as Readonly<Record<string, Check>>)) {
    const value = (options as Record<string, unknown>)[name];
    if (value !== undefined) range?.(value, `${within}${name}`);
    if (fields && typeof value === 'object' && value !== null) checkRanges(value, fields, `${within}${name}.`);
  }
}

/** An `AbortSignal` of any realm. */
export const isSignal: Check = (value, name) => {
  const signal = value as AbortSignal | null;
  if (typeof signal !== 'object' || signal === null || typeof signal.addEventListener !== 'function') {
    throw invalid(name, value, 'an AbortSignal');
  }
};

/** The path of a directory or file. */
export const path: Check = (value, name) => {
  if (typeof value !== 'string' || value === '' || value.includes('\0')) throw invalid(name, value, 'a path');
};

export const strings: Check = (value, name) => {
  // `every` passes over holes.
  if (!Array.isArray(value) || !Array.from(value).every((item) => typeof item === 'string')) {
    throw invalid(name, value, 'an array of strings');
  }
};

/** A record whose values are among these words. Which keys it may have is checked by the addon. */
export const wordsByName =
  (...values: string[]): Check =>
  (value, name) => {
    record(value, name);
    for (const [key, word] of Object.entries(value as object)) {
      if (word !== undefined) oneOf(...values)(word, `${name}.${key}`);
    }
  };

/** The source of a regular expression, or one. */
export const isPattern: Check = (value, name) => {
  if (typeof value !== 'string' && !(value instanceof RegExp)) throw invalid(name, value, 'a string or a RegExp');
};

/**
 * Checks an object of options: that each exists, then that each has a value of its kind.
 *
 * @param entry the function or class that takes the options, as its caller wrote it.
 * @param name the name of the object in the error if it is not an object.
 */
export function checkFields<T>(entry: string, options: unknown, checks: Checks<T>, name = 'options'): void {
  record(options, name);
  const unknown = unknownOption(entry, options as object, checks);
  if (unknown !== null) throw new BashError('ERR_BASH_INVALID_ARG', unknown);
  checkValues(options as object, checks, '');
}

function checkValues(options: object, checks: Readonly<Record<string, Check>>, within: string): void {
  for (const name in checks) {
    const value = (options as Record<string, unknown>)[name];
    if (value !== undefined) checks[name]?.(value, `${within}${name}`);
  }
}

/** The error of a value that is not of its kind. `hint` says what to write instead. */
export function invalid(name: string, value: unknown, wanted: string, hint = ''): BashError {
  const end = hint && `; ${hint}`;
  return new BashError('ERR_BASH_INVALID_ARG', `${name}: ${shown(value)} is not ${wanted}${end}`);
}

function shown(value: unknown): string {
  let text: string;
  try {
    text = typeof value === 'string' || Array.isArray(value) ? JSON.stringify(value) : String(value);
  } catch {
    text = 'a value that cannot be shown';
  }
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
