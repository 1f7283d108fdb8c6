import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BashOptions, type BashResult, bash } from 'agent-bash';
import { folder, hostEnv } from '../support/index.ts';

/** A home directory with these files, which is that of this process until the test has finished. */
export function home(files: Record<string, string>): string {
  const path = folder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  hostEnv({ HOME: path, XDG_CACHE_HOME: undefined });
  return path;
}

/** Runs a command with the snapshot of the user. */
export function withSnapshot(command: string, options: BashOptions = {}): Promise<BashResult> {
  return bash(command, { snapshot: true, ...options });
}

/** The note of a command that had no snapshot. */
export const WITHOUT = "the command ran without the snapshot of the user's shell: ";

/** The files that snapshots are kept in, below this directory for such things. */
export function keptIn(cache: string): string[] {
  try {
    return readdirSync(join(cache, 'agent-bash'));
  } catch {
    return [];
  }
}
