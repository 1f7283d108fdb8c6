import { type BashResult, type BashSnapshot, bash, type OutputChunk } from 'agent-bash';
import { onAbort } from '../../core/abort.ts';
import type { Executor } from '../executor.ts';
import { sandboxRunner } from '../sandbox/run.ts';
import { sessionRunner } from '../session.ts';
import { terminalRunner } from '../terminal/run.ts';
import type { BashRunner, BashToolOptions, BashToolSnapshot } from '../types.ts';
import { applyLineLimits, HeadStop } from './line-limits.ts';
import { adoptedNotes } from './manage.ts';
import type { CallPlan } from './validate.ts';

/** Returns the function that runs commands as `bash` does, by their executor. */
function runnerOf(executor: Executor): BashRunner {
  switch (executor.kind) {
    case 'bash':
      return bash;
    case 'host':
      return executor.run;
    case 'sandbox':
      return sandboxRunner(executor.sandbox);
    case 'session':
      return sessionRunner(executor.session);
    case 'terminal':
      return terminalRunner(executor.terminal);
  }
}

/**
 * Yields what `start` pushes while it works and returns its result. Rethrows a rejection. A slow consumer only receives
 * the newest update. An update that is not consumed before the end is dropped.
 */
export async function* live<Update, Result>(
  start: (push: (update: Update) => void) => Promise<Result>,
): AsyncGenerator<Update, Result, undefined> {
  let newest: { update: Update } | null = null;
  let settled = false;
  let wake = () => {};
  const done = start((update) => {
    newest = { update };
    wake();
  });
  const settle = () => {
    settled = true;
    wake();
  };
  done.then(settle, settle);
  while (!settled) {
    const next = newest as { update: Update } | null;
    if (next === null) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    } else {
      newest = null;
      yield next.update;
    }
  }
  return await done;
}

const DEFAULT_UPDATE_INTERVAL_MS = 250;

/** Runs the command of a call. Yields snapshots while it runs. */
export async function* runPlan(
  plan: CallPlan,
  options: BashToolOptions,
  callSignal: AbortSignal | undefined,
): AsyncGenerator<BashToolSnapshot, BashResult, undefined> {
  const { updateIntervalMs = DEFAULT_UPDATE_INTERVAL_MS } = options;
  const run = runnerOf(plan.executor);
  // Listeners and a signal given to the session apply too.
  const { signal, onOutput, onSnapshot } = plan.options;
  const abortSignal = signal && callSignal ? AbortSignal.any([signal, callSignal]) : (signal ?? callSignal);
  // A signal of our own: the command also ends after its last wanted line, and when the consumer stops iterating.
  const ending = new AbortController();
  const abort = () => ending.abort(abortSignal?.reason);
  const first = plan.limits[0];
  const headStop = first?.keep === 'head' ? new HeadStop(first.lines, () => ending.abort()) : null;
  ending.signal.addEventListener('abort', () => headStop?.close(), { once: true });
  const forget = abortSignal && onAbort(abortSignal, abort);
  if (abortSignal?.aborted) abort();
  let settled = false;
  let shown: BashSnapshot | null = null;
  try {
    const raw = yield* live<BashToolSnapshot, BashResult>(async (push) => {
      try {
        return await run(plan.command, {
          ...plan.options,
          signal: ending.signal,
          ...(headStop && {
            onOutput: async (chunk: OutputChunk) => {
              await onOutput?.(chunk);
              await headStop.onOutput(chunk);
            },
          }),
          ...(updateIntervalMs > 0 && {
            onSnapshot: (snapshot: BashSnapshot) => {
              // Every listener of the stream receives each snapshot as an event, so only a changed one is sent.
              if (shown?.stdout !== snapshot.stdout || shown.stderr !== snapshot.stderr) push(toSnapshot(snapshot));
              shown = snapshot;
              return onSnapshot?.(snapshot);
            },
            snapshotIntervalMs: Math.min(Math.max(Math.round(updateIntervalMs), 10), 60_000),
          }),
        });
      } finally {
        settled = true;
      }
    });
    const result = headStop?.outcome(raw, abortSignal?.aborted ?? false) ?? raw;
    const adopted = adoptedNotes(result, plan.options);
    const notes = [...result.notes, ...plan.notes, ...timeoutNote(result, abortSignal), ...adopted];
    return applyLineLimits({ ...result, notes: [...new Set(notes)] }, plan.limits);
  } finally {
    forget?.();
    headStop?.close();
    if (!settled) ending.abort();
  }
}

function toSnapshot({ stdout, stderr, pid, durationMs }: BashSnapshot): BashToolSnapshot {
  return { status: 'running', stdout, stderr, exitCode: null, pid, durationMs };
}

/** The SDK's time limit and a person abort through the same signal. Only the reason differs. */
function timeoutNote(result: BashResult, signal: AbortSignal | undefined): string[] {
  const byLimit = result.status === 'aborted' && (signal?.reason as Error | undefined)?.name === 'TimeoutError';
  return byLimit ? ['the time limit of the tool call was reached'] : [];
}
