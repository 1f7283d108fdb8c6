import type { Appears } from './appears.ts';
import type { TerminalReason } from './types.ts';

/** How often the screen is looked at for what is waited for, while the program writes, in ms. */
const LOOK_MS = 20;

/** What a wait waits for, beside the end of the program. */
export interface Until {
  appears?: Appears | null;
  /** For that long nothing was written, in ms. */
  idleMs?: number | null;
  /** Quiet counts only behind some output after this many pieces of it, or when that has not come for so many ms. */
  after?: { outputs: number; withinMs: number };
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** What is waited for, as far as a wait is concerned. */
export interface Waited {
  readonly running: boolean;
  /** How many pieces of output there were so far. */
  readonly outputs: number;
  /** The screen as one text. */
  text(): string;
  /** Calls this after each piece of output and at the end, until what is returned is called. */
  listen(listener: () => void): () => void;
}

/** Resolves with what has come first. Rejects when `appears` throws. */
export function waitFor(waited: Waited, { appears, idleMs, after, timeoutMs, signal }: Until): Promise<TerminalReason> {
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
    /** Looks for the last time where there is a reason to end, and tells whether the wait is over. */
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
