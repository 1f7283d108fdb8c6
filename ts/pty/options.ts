import type { BashOptions } from '../bash-options.ts';
import { type Checks, checkFields, invalid, isPattern, wholeNumber } from '../core/checks.ts';

/** Options of a `PtySession`. */
export interface TerminalOptions extends BashOptions {
  /**
   * Characters per row: a whole number from 1 to 65,535.
   *
   * @default 80
   * @example new PtySession({ cols: 120 });
   */
  cols?: number | undefined;
  /**
   * Rows: a whole number from 1 to 65,535.
   *
   * @default 24
   * @example new PtySession({ rows: 40 });
   */
  rows?: number | undefined;
}

/** The events that end `PtySession.wait`, beside the end of the program. */
export interface TerminalWaitOptions {
  /**
   * How long to wait, in ms, a whole number of at least 0.
   *
   * @default no limit
   * @example await pty.wait({ timeoutMs: 10_000 });
   */
  timeoutMs?: number | undefined;
  /**
   * Time without output, in ms: a whole number of at least 1, counted from this call or the last output, whichever is
   * later.
   *
   * @default none
   * @example await pty.wait({ idleMs: 200 });
   */
  idleMs?: number | undefined;
  /**
   * Text that the program writes, or has written since the start or the last match. A string is the source of a regular
   * expression; the flags `g` and `y` of a `RegExp` have no meaning. A pattern that the engine does not support is
   * `ERR_BASH_INVALID_ARG`.
   *
   * @default none
   * @example await pty.wait({ pattern: />>> $/ });
   */
  pattern?: string | RegExp | undefined;
}

const side = wholeNumber(1, 65_535);

/** The options of a terminal that `bash()` does not have. */
export const OF_TERMINALS: Checks<Omit<TerminalOptions, keyof BashOptions>> = { cols: side, rows: side };

const WAIT: Checks<TerminalWaitOptions> = { timeoutMs: wholeNumber(0), idleMs: wholeNumber(1), pattern: isPattern };

/** Checks both sides of a terminal. */
export function sizeOf(cols: unknown, rows: unknown): [cols: number, rows: number] {
  side(cols, 'cols');
  side(rows, 'rows');
  return [cols as number, rows as number];
}

export function checkWait(options: unknown): asserts options is TerminalWaitOptions {
  checkFields<TerminalWaitOptions>('PtySession.wait', options, WAIT);
}

export function checkListener(event: unknown, listener: unknown): asserts event is 'data' | 'exit' {
  if (event !== 'data' && event !== 'exit') throw invalid('event', event, 'one of data, exit');
  if (typeof listener !== 'function') throw invalid('listener', listener, 'a function');
}
