/** Calls a listener of the caller and waits for it. Returns the message of its failure, or `undefined`. */
export async function failureOf(call: () => unknown): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Returns the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error that cannot be shown';
  }
}
