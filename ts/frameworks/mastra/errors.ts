import { NOT_RUN } from '../../tool/call/judge.ts';
import { refusal } from '../shared/told.ts';

/** Returns the error of a command that did not run. */
export function notRun(error: unknown): Error {
  const message = refusal(error);
  const details = { exitCode: NOT_RUN, stdout: '', stderr: message };
  const made = sandboxError('SandboxExecutionError', 'EXECUTION_FAILED', message, details, error);
  return Object.assign(made, details);
}

/** Returns the error of a sandbox that was destroyed, or is about to end. */
export function notReady(id: string): Error {
  return sandboxError('SandboxNotReadyError', 'NOT_READY', `Sandbox is not ready: ${id}`, { id });
}

/** Returns the error of an operation that its signal has ended. */
export function aborted(operation: string, reason?: unknown): Error {
  const message = `Sandbox operation aborted: ${operation}`;
  return sandboxError('SandboxAbortError', 'ABORTED', message, { operation, reason }, reason);
}

/** Returns the error of a file mode that cannot be set. */
export function invalidMode(mode: unknown): Error {
  const message = `Invalid file mode ${mode}: must be an integer between 0o001 (1) and 0o777 (511).`;
  return sandboxError('SandboxError', 'INVALID_ARGUMENT', message, { mode });
}

/** Makes an error in the form of Mastra's classes, with the name and the code by which they are told apart. */
function sandboxError(name: string, code: string, message: string, details: object, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { name, code, details });
}
