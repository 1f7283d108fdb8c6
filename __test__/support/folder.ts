import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * Creates an empty directory for one test, removed when the test has finished. Concurrent tests pass the hook of their
 * context.
 */
export function folder(finished: (remove: () => void) => void = onTestFinished): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'agent-bash-test-'));
  finished(() => remove(path));
  return path;
}

/**
 * Removes a directory in which processes that are ending may still make files. `maxRetries` of Node tries the last step
 * again only, and does not look for new files.
 */
export function remove(path: string): void {
  for (let left = 40; ; left--) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if (left === 0) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
}
