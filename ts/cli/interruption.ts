import { constants } from 'node:os';
import { readerGone } from './console.ts';

/** What the first Ctrl-C ends. A second one exits without waiting for that. */
export interface Interruption {
  /** Is aborted by the first signal, and when the output has no reader. */
  signal: AbortSignal;
  /** Returns the exit code after a signal; `undefined` if none has come. */
  code(): number | undefined;
}

/** Catches the signals that end a program. */
export function interruptible(): Interruption {
  let code: number | undefined;
  const ending = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (code !== undefined) process.exit(code);
      code = 128 + constants.signals[name];
      ending.abort();
    });
  }
  readerGone.signal.addEventListener('abort', () => ending.abort());
  return { signal: ending.signal, code: () => code };
}
