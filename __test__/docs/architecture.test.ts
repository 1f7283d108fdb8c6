import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/index.ts';

const read = (...path: string[]) => readFileSync(join(packageRoot, ...path), 'utf8');
const crates = readdirSync(join(packageRoot, 'crates'));

/** The crates of this repository that a crate names as its dependencies. */
function dependencies(crate: string): string[] {
  const [, section = ''] =
    /^\[dependencies\]\n(.*?)(?:^\[|$(?![\s\S]))/ms.exec(read('crates', crate, 'Cargo.toml')) ?? [];
  const names = section.split('\n').flatMap((line) => /^([a-z]+)\b/.exec(line)?.[1] ?? []);
  return names.filter((name) => crates.includes(name)).toSorted();
}

test('the table of crates has the dependencies of each', () => {
  const rows = [...read('ARCHITECTURE.md').matchAll(/^\| `([a-z]+)` \|.*\| ([^|]+) \|$/gm)];
  const told = new Map(rows.map(([, crate = '', uses = '']) => [crate, uses.match(/[a-z]+(?=`)/g)?.toSorted() ?? []]));
  for (const crate of crates) expect(told.get(crate), crate).toEqual(dependencies(crate));
});

test('the tests that SECURITY.md names are there', () => {
  const named = [...read('SECURITY.md').matchAll(/`((?:__test__|crates)\/[^`]+)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([]);
});
