// Checks of options that the words of a schema cannot describe: each says what to write instead.

import type { Check } from './core/checks.ts';
import { fields, invalid, oneOf, strings, type, withHint } from './core/checks.ts';
import type { Truncate } from './output.ts';

export const INHERIT_ENV: Check = (value, name) =>
  Array.isArray(value) ? strings(value, name) : oneOf('safe', 'all', 'none')(value, name);

export const SHELL: Check = type('string', 'the shell is always bash, and this is the path of another one');

/** The path of a file that a shell reads when it starts. */
export const RC_FILE: Check = (value, name) => {
  if (typeof value !== 'string' || value === '') throw invalid(name, value, 'true, false or the path of an rc file');
};

const LIMITS = fields<Truncate>({
  keep: oneOf('tail', 'head', 'ends'),
  maxLines: type('number'),
  maxBytes: type('number'),
  maxChars: type('number'),
  headBytes: type('number'),
  tailBytes: type('number'),
});

export const TRUNCATE: Check = withHint(
  'use TRUNCATE.tail, TRUNCATE.ends, TRUNCATE.head or an object of your own',
  Object.assign(
    (value: unknown, name: string) => {
      LIMITS(value, name);
      if ((value as Truncate).keep === undefined) {
        throw invalid(`${name}.keep`, undefined, 'one of tail, head, ends');
      }
    },
    { fields: LIMITS.fields ?? {} },
  ),
);
