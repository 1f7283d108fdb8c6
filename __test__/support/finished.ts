import { AsyncLocalStorage } from 'node:async_hooks';
import { aroundEach, onTestFinished, type TestContext } from 'vitest';

/** The context of the test that runs: vitest's own hook does not know which one of concurrent tests calls it. */
const contexts = new AsyncLocalStorage<TestContext>();

aroundEach((run, context) => contexts.run(context, run));

/** Has `clean` called when the calling test has finished, which may be one of `describe.concurrent`. */
export function finished(clean: () => void | Promise<void>): void {
  (contexts.getStore()?.onTestFinished ?? onTestFinished)(clean);
}
