import type { TerminalExit } from './listeners.ts';
import type { TerminalOptions, TerminalWaitOptions } from './options.ts';

/** @deprecated The name is `TerminalExit`. */
export type PtyEnd = TerminalExit;

/** @deprecated The name is `TerminalOptions`. */
export type PtyOptions = TerminalOptions;

/** @deprecated The name is `TerminalWaitOptions`. */
export type PtyWaitOptions = TerminalWaitOptions;
