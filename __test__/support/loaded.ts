import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const dist = join(import.meta.dirname, '../../dist');

/** The packages and modules of Node that a built file loads, itself and through the chunks it shares with others. */
export async function loadedBy(file: string, seen = new Set<string>()): Promise<string[]> {
  if (seen.has(file)) return [];
  seen.add(file);
  const built = await readFile(join(dist, file), 'utf8');
  const names = [...built.matchAll(/(?:from|import|require\(|import\()\s*["']([^"']+)["']/g)].map(
    ([, name = '']) => name,
  );
  const found = await Promise.all(
    names.map((name) => (name.startsWith('./') ? loadedBy(name.slice(2), seen) : Promise.resolve([name]))),
  );
  return [...new Set(found.flat())].sort();
}
