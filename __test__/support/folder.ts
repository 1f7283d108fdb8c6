import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new empty folder of this test alone, removed when the test has finished; concurrent tests give the hook of their context. */
export function folder(finished: (remove: () => void) => void = onTestFinished): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'agent-bash-test-'));
  finished(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}
