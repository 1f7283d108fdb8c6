import { invalid } from './core/checks.ts';
import { loadNative } from './core/native.ts';

/**
 * The class of a part of a command: the name of a program, an option, quoted text, a variable, a reserved word, an
 * operator, a comment, a number, or the name of a function that is defined.
 */
export type HighlightClass =
  | 'program'
  | 'option'
  | 'string'
  | 'variable'
  | 'keyword'
  | 'operator'
  | 'comment'
  | 'number'
  | 'function';

/** A part of a command, from `start` up to `end` in UTF-16 units, as `slice` takes them. */
export interface HighlightToken {
  start: number;
  end: number;
  class: HighlightClass;
}

/**
 * Returns the parts of a command that a person tells apart by colour, in order and without overlap. Text without a
 * class, such as plain arguments and blanks, is between them. Pass them to `renderText` and `renderHtml` as `tokens`.
 *
 * A text with syntax errors has tokens, too. Only the first 8 KiB are read, and 512 bytes of each statement, so that
 * any text is read in bounded time. What follows several statements that cannot be read has no tokens. The tokens
 * decide nothing: `analyze` says what a command does.
 *
 * @example const tokens = highlight('git push --force origin "$BRANCH"');
 * @param command any string.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for anything but a string.
 */
export function highlight(command: string): HighlightToken[] {
  if (typeof command !== 'string') throw invalid('command', command, 'a string');
  return JSON.parse(loadNative().highlight(command)) as HighlightToken[];
}
