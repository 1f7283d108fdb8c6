import { BashError } from 'agent-bash';

/** Returns an error with a stable code, in the shape of the main entry's `BashError`. */
export function failure(code: string, message: string): Error & { code: string } {
  return Object.assign(new Error(message), { code });
}

/** Returns the error for an invalid argument. */
export function invalid(message: string): Error & { code: string } {
  return failure('ERR_BASH_INVALID_ARG', message);
}

/** Returns the error for work on a target that was lost before it had answered. `left` is what the work has left. */
export function lostError(target: string, left: string): BashError {
  const message = `${target} was lost before it had answered: ${left}`;
  return Object.assign(new BashError('ERR_BASH_TARGET', message), { target, reason: 'lost' as const, stderr: '' });
}
