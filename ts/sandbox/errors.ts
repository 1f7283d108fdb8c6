/** Returns an error with a stable code, in the shape of the main entry's `BashError`. */
export function failure(code: string, message: string): Error & { code: string } {
  return Object.assign(new Error(message), { code });
}

/** Returns the error for an invalid argument. */
export function invalid(message: string): Error & { code: string } {
  return failure('ERR_BASH_INVALID_ARG', message);
}
