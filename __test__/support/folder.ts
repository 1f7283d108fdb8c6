import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new empty folder of this test alone, removed when the test has finished. */
export function folder(): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'agent-bash-test-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}
