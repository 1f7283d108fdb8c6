import { realpathSync } from 'node:fs';

/** Returns a path without links, or as it is if nothing is there. */
export function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
