import type { ScreenSearch } from './screen-search.ts';
import type { TerminalReason } from './types.ts';

/** Interval between scans of the screen while the program writes, in ms. */
const LOOK_MS = 20;

/** The events that end a wait, besides the program's end. */
export interface Until {
  appears?: ScreenSearch | null;
  /** Time without output, in ms. */
  idleMs?: number | null;
  /** Silence only counts after this many pieces of output, or after so many ms without them. */
  after?: { outputs: number; withinMs: number };
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** The part of a terminal that a wait uses. */
export interface Watched {
  readonly running: boolean;
  /** Pieces of output so far. */
  readonly outputs: number;
  /** The screen as one text. */
  text(): string;
  /** Calls the listener after each piece of output and at the end. Returns the function that removes it. */
  listen(listener: () => void): () => void;
}

/** Resolves with the first event. Rejects if `appears` throws. */
export function waitFor(
  waited: Watched,
  { appears, idleMs, after, timeoutMs, signal }: Until,
): Promise<TerminalReason> {
  return new Promise((resolve, reject) => {
    const timers: NodeJS.Timeout[] = [];
    let quiet: NodeJS.Timeout | undefined;
    let look: NodeJS.Timeout | undefined;
    let forget = () => {};
    const settle = (how: () => void) => {
      for (const timer of [...timers, quiet, look]) clearTimeout(timer);
      forget();
      signal?.removeEventListener('abort', onAbort);
      how();
    };
    const finish = (reason: TerminalReason) => settle(() => resolve(reason));
    const onAbort = () => finish('interrupted');
    /** Scans a last time if there is a reason to end. Returns whether the wait is over. */
    const over = (reason?: TerminalReason): boolean => {
      look = undefined;
      try {
        if (appears?.(waited.text())) finish('appeared');
        else if (reason) finish(reason);
        else return false;
      } catch (error) {
        settle(() => reject(error));
      }
      return true;
    };
    const hush = () => {
      if (quiet) quiet.refresh();
      else if (idleMs != null) quiet = setTimeout(() => over('idle'), idleMs);
    };
    if (signal?.aborted) return onAbort();
    if (over(waited.running ? undefined : 'ended')) return;
    forget = waited.listen(() => {
      if (!waited.running) {
        over('ended');
        return;
      }
      hush();
      if (appears) look ??= setTimeout(over, LOOK_MS);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    timers.push(setTimeout(() => over('timeout'), timeoutMs));
    if (after === undefined || waited.outputs > after.outputs) hush();
    else timers.push(setTimeout(hush, after.withinMs));
  });
}
