import type { BashResult } from '../native.cjs';
import { INNER, type Inner } from './inner';
import { loadNative, refuseWindows } from './native';
import { checkElsewhere } from './options';
import { run } from './run';
import type { BashOptions, Truncate } from './types';

export type {
  BackgroundCheck,
  BackgroundTask,
  BashPrompt,
  BashResult,
  BashSnapshot,
  BashTruncation,
  BashUsage,
  OutputChunk,
  Survivor,
  TerminalCursor,
  TerminalModes,
  TerminalScreen,
  TerminalWaited,
  Truncation,
  WarmShells,
} from '../native.cjs';
export type {
  Analysis,
  CommandRedirect,
  CommandUnit,
  Decision,
  Finding,
  SafetyRule,
  Verdict,
  Word,
  WrapperKind,
} from './analysis';
export { BashError, type BashErrorCode } from './errors';
export type {
  Observed,
  ObservedBlock,
  ObservedExit,
  ObservedKill,
  ObservedKind,
  ObservedOutput,
  ObservedStart,
} from './observe/channels';
export { PtySession } from './pty';
export type { PtyEnd } from './pty-listeners';
export type { PtyOptions, PtyWaitOptions } from './pty-options';
export { BackgroundRegistry, defaultRegistry } from './registry';
export { analyze, decide, safetyRules } from './safety';
export { BashSession, type SessionResult } from './session';
export { warmShells, warmUp } from './shells';
export type {
  AnalyzeOptions,
  BackgroundRegistryOptions,
  BackgroundWaitOptions,
  BashLimits,
  BashOptions,
  SafetyOptions,
  SanitizeOptions,
  SpillOptions,
  Truncate,
} from './types';

refuseWindows();

/**
 * Runs a command in a fresh, non-login bash and resolves when it has ended, with all that it wrote.
 *
 * A command that ran is never an error, whatever its exit code, and neither is a time limit or an abort. The promise
 * rejects with a `BashError` only when nothing could be run: `ERR_BASH_INVALID_ARG`, `ERR_BASH_CWD_NOT_FOUND`,
 * `ERR_BASH_CWD_NOT_DIRECTORY`, `ERR_BASH_SHELL_NOT_FOUND`, `ERR_BASH_SPAWN`, `ERR_BASH_UNSUPPORTED`, and
 * `ERR_BASH_BLOCKED`, with `findings`, when the safety engine denies it; with background tasks also `ERR_BASH_TOO_MANY_TASKS`
 * and `ERR_BASH_CLOSED`. It never throws synchronously and always settles.
 *
 * @param command goes to bash byte for byte, up to 64 MiB; one over 131,071 bytes reaches it as a script.
 * @param options see `BashOptions`; all may be left out.
 */
export function bash(command: string, options?: BashOptions): Promise<BashResult> {
  return run(command, options);
}

const inner: Inner = {
  get NativeText() {
    return loadNative().NativeText;
  },
  check: checkElsewhere,
  removeAtEnd: (folder) => loadNative().removeAtEnd(folder),
  removeNoMore: (folder) => loadNative().removeNoMore(folder),
};
Object.defineProperty(bash, INNER, { value: inner });

/** The three policies for output that is too long. `tail` is the default. */
export const TRUNCATE: { tail: Truncate; ends: Truncate; head: Truncate } = {
  /** The last 2000 lines or 50 KiB. */
  tail: { keep: 'tail', maxLines: 2000, maxBytes: 51_200 },
  /** 4 KiB of each end, once there are more than 128 KiB. */
  ends: { keep: 'ends', maxBytes: 131_072, headBytes: 4096, tailBytes: 4096 },
  /** The first 30,000 characters. */
  head: { keep: 'head', maxChars: 30_000 },
};
