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
