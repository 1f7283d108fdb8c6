const heard = new WeakMap<AbortSignal, { calls: Set<() => void>; listener: () => void }>();

/**
 * Calls `call` when the signal is aborted, until what is returned is called. However many commands share a signal, it has
 * one listener of ours, and none when they have ended: Node warns of more than ten.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  const known = heard.get(signal);
  const entry = known ?? listen(signal);
  entry.calls.add(call);
  return () => {
    entry.calls.delete(call);
    if (entry.calls.size === 0) {
      signal.removeEventListener('abort', entry.listener);
      heard.delete(signal);
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
  heard.set(signal, entry);
  return entry;
}
