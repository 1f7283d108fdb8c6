import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../host.ts';

/** A test that the project `confined` leaves out, or several whose names begin alike. */
export interface Difference {
  /** Its file, as a path below `__test__` without the suffix. */
  file: string;
  /** Its name behind those of its `describe` blocks, joined by ` > `. With a `*` at the end, the beginning of names. */
  name: string;
  /** The sentence of docs/confinement.md that explains it. */
  why: string;
}

const folder = join(import.meta.dirname, 'reasons');

/** The sentences on differences inside in docs/confinement.md, by their key: the bold words with hyphens. */
function sentences(): Map<string, string> {
  const page = readFileSync(join(packageRoot, 'docs', 'confinement.md'), 'utf8');
  const section = page.split('\n## What is different inside\n')[1]?.split('\n## ')[0] ?? '';
  const items = section.matchAll(/^- \*\*(.+?)\*\*: (.+(?:\n {2}.+)*)/gm);
  const key = (words: string) =>
    words
      .toLowerCase()
      .match(/[a-z0-9]+/g)
      ?.join('-') ?? '';
  return new Map(
    [...items].map(([, words = '', text = '']) => [key(words), `${words}: ${text.replace(/\n */g, ' ')}`]),
  );
}

/** The differences of one kind, a line each: `file: name`. */
function differencesOf(kind: string, why: string): Difference[] {
  const lines = readFileSync(join(folder, `${kind}.txt`), 'utf8').split('\n');
  return lines.filter(Boolean).map((line) => {
    const [, file, name] = /^(\S+): (.+)$/.exec(line) ?? [];
    if (!file || !name) throw new Error(`reasons/${kind}.txt has no «file: name» in «${line}»`);
    return { file, name, why };
  });
}

/** All differences. Each file in `reasons/` is one kind, and docs/confinement.md explains each kind. */
export function differences(): Difference[] {
  const explained = sentences();
  return readdirSync(folder).flatMap((name) => {
    const kind = name.replace(/\.txt$/, '');
    const why = explained.get(kind);
    if (why === undefined) throw new Error(`docs/confinement.md does not explain «${kind}»`);
    return differencesOf(kind, why);
  });
}

/** Whether a difference names the test. */
export function names({ name }: Difference, test: string): boolean {
  return name.endsWith('*') ? test.startsWith(name.slice(0, -1)) : test === name;
}
