import { readFile } from 'node:fs/promises';
import type { Target } from 'agent-bash';

/** Reads a small file of the kernel, without its last newline. Returns `null` if it cannot be read. */
export async function line(path: string): Promise<string | null> {
  return readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
}

/** Returns a function that does so on a target. */
export function lineOn(target: Target): typeof line {
  return (path) =>
    target.readFile(path).then(
      (bytes) => bytes && Buffer.from(bytes).toString().trim(),
      () => null,
    );
}
