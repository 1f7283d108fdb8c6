/** Resolves after a time, or at once when the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}

/** The pauses between attempts, in ms: each is twice the one before it, up to `most`. */
export function* growingPauses(first: number, most: number): Generator<number, never> {
  for (let next = first; ; next = Math.min(most, next * 2)) yield next;
}
