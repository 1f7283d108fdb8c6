const listening = new WeakMap<AbortSignal, { calls: Set<() => void>; listener: () => void }>();

/**
 * Calls `call` when the signal is aborted, until the returned function is called. However many commands share a signal,
 * it has one listener of this package, and none once they have ended: Node warns about more than ten.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  const known = listening.get(signal);
  const entry = known ?? listen(signal);
  entry.calls.add(call);
  return () => {
    entry.calls.delete(call);
    if (entry.calls.size === 0) {
      signal.removeEventListener('abort', entry.listener);
      listening.delete(signal);
    }
  };
}

function listen(signal: AbortSignal) {
  const calls = new Set<() => void>();
  const listener = () => {
    for (const call of [...calls]) call();
  };
  signal.addEventListener('abort', listener, { once: true });
  const entry = { calls, listener };
  listening.set(signal, entry);
  return entry;
}

/**
 * A controller that other signals abort too, until `unlink`. `AbortSignal.any` would leak memory on long-lived signals.
 */
export function linkedAbort(signals: readonly (AbortSignal | undefined)[]): {
  controller: AbortController;
  unlink: () => void;
} {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const linked = signals.filter((signal) => signal !== undefined);
  if (linked.some((signal) => signal.aborted)) abort();
  const unlinks = linked.map((signal) => onAbort(signal, abort));
  return {
    controller,
    unlink: () => {
      for (const unlink of unlinks) unlink();
    },
  };
}

/** Waits for a promise, but not longer than until the signal aborts. */
export async function unlessAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let forget = () => {};
  const aborted = new Promise<void>((resolve) => {
    forget = onAbort(signal, resolve);
  });
  await Promise.race([promise, aborted]).finally(forget);
}
