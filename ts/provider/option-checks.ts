import { BashError, bash } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { type OptionTable, unknownOption } from '../core/option-names.ts';

/** Throws for options that are no object, and for one that does not exist. */
export function checkNames(entry: string, options: unknown, table: OptionTable): void {
  if (typeof options !== 'object' || options === null) throw invalid('options', options, 'an object');
  const unknown = unknownOption(entry, options, table);
  if (unknown !== null) throw new BashError('ERR_BASH_INVALID_ARG', unknown);
}

/** Throws for a name that a client could read as an option, or as two words. */
export function checkName(name: string, value: unknown): void {
  const wanted = 'a name without blanks that does not begin with "-"';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (typeof value !== 'string' || !/^[^-\s\u0000-\u001f\u007f][^\s\u0000-\u001f\u007f]*$/.test(value)) {
    throw invalid(name, value, wanted);
  }
}

/** Throws for a value that is no list of strings, or has fewer than `least`. */
export function checkWords(name: string, value: unknown, least: number): void {
  if (!Array.isArray(value) || value.length < least || !value.every((word) => typeof word === 'string')) {
    throw invalid(name, value, least > 0 ? 'a list of strings that is not empty' : 'a list of strings');
  }
}

/** Throws for a value that is no whole number of this range. */
export function checkWhole(name: string, value: unknown, least: number, most: number): void {
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
    throw invalid(name, value, `a whole number from ${least} to ${most}`);
  }
}

function invalid(name: string, value: unknown, wanted: string): Error {
  return innerOf(bash).invalid(name, value, wanted);
}
