import { type Check, invalid } from '../core/checks.ts';
import { loadNative } from '../core/native.ts';
import { BashError } from '../errors.ts';

/** `false`, or an array of paths. */
export const isRules: Check = (value, name) => {
  // `every` passes over holes.
  const isPaths = Array.isArray(value) && Array.from(value).every((path) => typeof path === 'string' && path !== '');
  if (value !== false && !isPaths) throw invalid(name, value, 'false or an array of paths');
};

/**
 * Returns the texts of files of rules, which the addon compiles.
 *
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for a file that cannot be read or used: with the file, the line and
 * the reason.
 */
export function readRules(paths: readonly string[]): string[] {
  return paths.map((path) => {
    const { text, error } = loadNative().readRules(path);
    if (error) throw new BashError('ERR_BASH_INVALID_ARG', `rules: ${error}`);
    return text;
  });
}
