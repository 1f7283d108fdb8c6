import { AsyncResource } from 'node:async_hooks';
import { channel } from '../core/builtins.ts';

/**
 * Returns the steps of a call. If calls are observed, each step runs in the asynchronous context of the call, wherever
 * its consumer asks for it: a tracer finds the parent of a command there.
 */
export function inContextOfCall<T, Result>(
  steps: AsyncGenerator<T, Result, undefined>,
): AsyncGenerator<T, Result, undefined> {
  if (!channel('agent-bash:call').hasSubscribers) return steps;
  const context = new AsyncResource('AGENT_BASH_CALL');
  const { next, return: end, throw: fail } = steps;
  return Object.assign(steps, {
    next: () => context.runInAsyncScope(next, steps),
    return: (value: Result) => context.runInAsyncScope(end, steps, value),
    throw: (error: unknown) => context.runInAsyncScope(fail, steps, error),
  });
}
