import { readFile } from 'node:fs/promises';

/** A small file of the kernel without its last newline; `null` when it cannot be read. */
export async function line(path: string): Promise<string | null> {
  return readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
}
