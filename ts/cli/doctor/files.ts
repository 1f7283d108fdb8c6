import { readFile } from 'node:fs/promises';

/** Reads a small file of the kernel, without its last newline. Returns `null` if it cannot be read. */
export async function line(path: string): Promise<string | null> {
  return readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
}
