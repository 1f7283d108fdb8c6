/** The parts of a rejection that tests use. */
export interface Rejection {
  code: string;
  message: string;
  errno?: string;
}

/** The rejection of a call that must not throw before it gives a promise, and must not resolve. */
export async function rejection(call: () => Promise<unknown>): Promise<Error & Rejection> {
  const promise = call();
  if (!(promise instanceof Promise)) throw new Error('the call gave no promise');
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    if (!(error instanceof Error)) throw new Error(`rejected with ${String(error)}, which is no Error`);
    return error as Error & Rejection;
  }
  throw new Error(`resolved with ${JSON.stringify(value)}`);
}
