/** Calls a listener of the caller's and waits for it; gives what it failed with, in words, or `undefined`. */
export async function failureOf(call: () => unknown): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** The words of anything that was thrown. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error that cannot be shown';
  }
}
