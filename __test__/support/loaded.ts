import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const dist = join(import.meta.dirname, '../../dist');

/** What a built file loads, by itself and through the parts of ours that it shares with others: packages and modules of Node. */
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
