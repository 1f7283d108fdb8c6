import { availableParallelism } from 'node:os';
import { type Attempt, type AttemptFlags, hasPassed, runAttempt } from './attempt.ts';

/** The most commands that run at once. */
export const atOnce = () => availableParallelism() + 1;

/** How to run commands side by side. */
export interface RaceOptions {
  flags: AttemptFlags;
  /** Ends all commands, and lets no other start. */
  signal: AbortSignal;
  /** Whether the first command that passes ends the others. */
  isOver: boolean;
  /** Is called when a command has ended and its draft was looked at, for one attempt after the other. */
  onEnd(attempt: Attempt): Promise<void>;
}

/**
 * Runs commands side by side. Resolves, when all have ended, with the first that has passed, or `null`. An error that
 * is no refusal ends all of them.
 */
export async function race(
  attempts: Attempt[],
  { flags, signal, isOver, onEnd }: RaceOptions,
): Promise<Attempt | null> {
  const ending = new AbortController();
  const all = AbortSignal.any([signal, ending.signal]);
  let first: Attempt | null = null;
  let told = Promise.resolve();
  const take = async (attempt: Attempt) => {
    await runAttempt(attempt, flags, all, () => {
      if (!hasPassed(attempt)) return;
      first ??= attempt;
      if (isOver) ending.abort();
    });
    told = told.then(() => onEnd(attempt));
    await told;
  };
  // The workers share the iterator.
  const waiting = attempts.values();
  const worker = async () => {
    for (const attempt of waiting) if (!all.aborted) await take(attempt);
  };
  const workers = Array.from({ length: atOnce() }, () =>
    worker().catch((error) => {
      ending.abort();
      throw error;
    }),
  );
  for (const { reason } of (await Promise.allSettled(workers)) as PromiseRejectedResult[]) if (reason) throw reason;
  return first;
}
