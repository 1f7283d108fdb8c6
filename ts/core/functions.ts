import type { Inner } from './inner.ts';

/** Throws `ERR_BASH_INVALID_ARG` for the first of these options that is given and is no function. */
export function checkFunctions({ invalid }: Inner, options: Readonly<Record<string, unknown>>): void {
  for (const name in options) {
    const value = options[name];
    if (value !== undefined && typeof value !== 'function') throw invalid(name, value, 'a function');
  }
}
