/** Waits for all ends, also if one fails. Then rejects with the first failure. */
export async function allEnded(ends: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(ends);
  await Promise.all(ends);
}
