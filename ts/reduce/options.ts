import { type Check, type Checks, fields, invalid, oneOf, wholeNumber, wordOr } from '../core/checks.ts';
import type { CommandOptions } from '../types.ts';
import { type Earlier, KEEPING, type Kept, keeperOf } from './keeping.ts';
import { isRules, readRules } from './rules.ts';
import type { ReduceOptions } from './types.ts';

/** Budget of a view in tokens, if the caller gives none. */
const DEFAULT_BUDGET = 1_000;

/** The checks of `ReduceOptions`. The addon checks the expressions. */
export const REDUCE_OPTIONS: Checks<ReduceOptions> = {
  level: oneOf('lossless', 'salient'),
  budgetTokens: wholeNumber(1),
  rules: isRules,
  keep: (value, name) => {
    const isText = (each: unknown) => typeof each === 'string' || each instanceof RegExp;
    if (!Array.isArray(value) || !Array.from(value).every(isText))
      throw invalid(name, value, 'an array of strings and expressions');
  },
};

/** The check of `reduce`. */
export const REDUCE: Check = wordOr(['off', 'lossless', 'salient'], fields<ReduceOptions>(REDUCE_OPTIONS));

/** The state of the conversation, as far as the caller knows it. */
export interface Conversation {
  /** The names of rules that must not apply. */
  off: string[];
  /** Earlier results that the model still reads. */
  earlier: readonly Earlier[];
}

/** Returns a reduction for the addon; `undefined` if it is off. */
export function nativeReduction(reduce: CommandOptions['reduce'], { off, earlier }: Conversation): object | undefined {
  if (reduce === undefined || reduce === 'off') return undefined;
  const {
    level,
    budgetTokens = DEFAULT_BUDGET,
    rules,
    keep = [],
  } = typeof reduce === 'string' ? { level: reduce } : reduce;
  return {
    budgetTokens: level === 'salient' ? budgetTokens : undefined,
    off: rules === false ? undefined : off,
    rules: rules ? readRules(rules) : undefined,
    keep: keep.filter((each) => typeof each === 'string'),
    keepPatterns: keep.filter((each) => typeof each !== 'string').map(({ source, flags }) => [source, flags]),
    earlier: earlier.map(({ id, text, hidden }) => ({ id, text, hidden })),
  };
}

/** Returns `reduce` of a command for the addon; `undefined` if it is off. */
export function nativeReductionOf(options: CommandOptions & Kept): object | undefined {
  const { reduce, [KEEPING]: keeping } = options;
  if (reduce === undefined || reduce === 'off') return undefined;
  const off = keeping ? keeperOf(keeping.store).off : [];
  return nativeReduction(reduce, { off, earlier: keeping?.earlier ?? [] });
}
