import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from './finished.ts';
import { endProgramsAt } from './processes.ts';

/**
 * Creates an empty directory for one test, removed when the test has finished, or by another hook. Processes whose home
 * is there, such as programs of targets, are ended before.
 */
export function folder(hook: (remove: () => void) => void = finished): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'agent-bash-test-'));
  hook(() => {
    endProgramsAt(path);
    remove(path);
  });
  return path;
}

/**
 * Creates a directory for `XDG_STATE_HOME`. The process that writes the ledger may write to it after the test, which
 * makes it again. So it is where the files are that outlive a run, or below `AGENT_BASH_TEST_STATE`.
 */
export function stateFolder(): string {
  const base = process.env.AGENT_BASH_TEST_STATE ?? tmpdir();
  const above = join(realpathSync(base), `agent-bash-${process.getuid?.()}`);
  mkdirSync(above, { recursive: true, mode: 0o700 });
  const path = mkdtempSync(join(above, 'state-'));
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
      // An ordinary user has to open a directory that a test has closed.
      if ((error as NodeJS.ErrnoException).code === 'EACCES') spawnSync('chmod', ['-R', 'u+rwX', path]);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
}

/** Writes a file in one step: no reader finds it empty, and its directory tells of the change. */
export function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
