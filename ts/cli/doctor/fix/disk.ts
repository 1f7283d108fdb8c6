import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COPIES, PROGRAM } from './causes.ts';
import { isUnchanged } from './signed.ts';
import type { Written } from './types.ts';

/** What is at the place of a file of ours. `'ours'`: an unchanged file, of another version or with another mode. */
export type State = 'absent' | 'same' | 'ours' | 'other';

/** Returns what is at the place of a file or a copy. */
export function stateOf(change: Written): State {
  const found = lstatSync(change.path, { throwIfNoEntry: false });
  if (!found) return 'absent';
  if (!found.isFile()) return 'other';
  const [isSame, isOurs] = compared(change);
  if (isSame && (found.mode & 0o7777) === change.mode) return 'same';
  return isSame || isOurs ? 'ours' : 'other';
}

/** Returns whether a file has the bytes of a change, and whether agent-bash wrote it as it is. */
function compared(change: Written): [isSame: boolean, isOurs: boolean] {
  const found = readFileSync(change.path);
  if (change.kind === 'copy') return [found.equals(readFileSync(change.from)), false];
  return [found.equals(Buffer.from(change.content)), isUnchanged(found.toString())];
}

/** Returns the copies of the supervisor in all versions, below a directory in place of `/`. */
export function copiesBelow(top: string): string[] {
  const folder = join(top, COPIES);
  const versions = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : [];
  const copies = versions.sort().map((version) => join(folder, version, PROGRAM));
  return copies.filter((path) => lstatSync(path, { throwIfNoEntry: false }));
}
