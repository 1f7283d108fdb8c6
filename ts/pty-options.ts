import { checkFields, invalid, wholeNumber } from './options';
import { isPattern } from './registry-options';
import type { BashOptions } from './types';

/** What a `PtySession` is made with. */
export interface PtyOptions extends BashOptions {
  /** Characters a row: a whole number from 1 to 65,535, default 80. */
  cols?: number | undefined;
  /** Rows: a whole number from 1 to 65,535, default 24. */
  rows?: number | undefined;
}

/** What `PtySession.wait` waits for, beside the end of the program. */
export interface PtyWaitOptions {
  /** How long at most, in ms, a whole number of at least 0. Default: no limit. */
  timeoutMs?: number | undefined;
  /** For this long, in ms, nothing was written: a whole number of at least 1, counted from the later of this call and the last output. */
  idleMs?: number | undefined;
  /** Text that the program writes, or has written since the start or the last match. A string is the source of a regular expression; of a `RegExp`, `g` and `y` have no meaning. */
  pattern?: string | RegExp | undefined;
}

const side = wholeNumber(1, 65_535);

/** Both sides of a terminal, once they were found right. */
export function sizeOf(cols: unknown, rows: unknown): [cols: number, rows: number] {
  side(cols, 'cols');
  side(rows, 'rows');
  return [cols as number, rows as number];
}

export function checkWait(options: unknown): asserts options is PtyWaitOptions {
  checkFields('options', options, {
    timeoutMs: wholeNumber(0, Number.MAX_SAFE_INTEGER),
    idleMs: wholeNumber(1, Number.MAX_SAFE_INTEGER),
    pattern: isPattern,
  });
}

export function checkListener(event: unknown, listener: unknown): asserts event is 'data' | 'exit' {
  if (event !== 'data' && event !== 'exit') throw invalid('event', event, 'one of data, exit');
  if (typeof listener !== 'function') throw invalid('listener', listener, 'a function');
}
