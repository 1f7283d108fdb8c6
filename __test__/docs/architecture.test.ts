import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/index.ts';

interface Package {
  name: string;
  manifest_path: string;
  dependencies: { name: string; kind: string | null; path?: string }[];
}

const read = (name: string) => readFileSync(join(packageRoot, name), 'utf8');

/** The crates of this repository as cargo knows them, without those of benchmarks. */
function crates(): Package[] {
  const args = ['metadata', '--offline', '--no-deps', '--format-version', '1'];
  const metadata = execFileSync('cargo', args, { cwd: packageRoot, encoding: 'utf8', maxBuffer: 64 << 20 });
  const { packages }: { packages: Package[] } = JSON.parse(metadata);
  return packages.filter(({ manifest_path }) => !manifest_path.startsWith(join(packageRoot, 'bench')));
}

const short = (name: string) => name.replace(/^agent-bash-/, '');

/** What the table has of each crate: its own crates, in alphabetical order. */
const uses = new Map(
  crates().map(({ name, dependencies }) => {
    const own = dependencies.filter(({ kind, path }) => kind === null && path !== undefined);
    const names = own.map((dependency) => `\`${short(dependency.name)}\``).toSorted();
    return [short(name), names.join(', ') || 'none'];
  }),
);

/** A row of the table: everything up to its last cell, the name of the crate, and the last cell. */
const ROW = /^(\| `([a-z-]+)`(?: \(`src\/`\))? \|.*\| )([^|]+)( \|)$/gm;
const withUses = (text: string) =>
  text.replace(ROW, (row, start, crate, _, end) => (uses.has(crate) ? start + uses.get(crate) + end : row));

// After a change of dependencies: UPDATE_DOCS=1 npm test -- docs/architecture
if (process.env.UPDATE_DOCS === '1') {
  writeFileSync(join(packageRoot, 'ARCHITECTURE.md'), withUses(read('ARCHITECTURE.md')));
}

test('the table of crates has each of them, with its dependencies', () => {
  const text = read('ARCHITECTURE.md');
  expect([...text.matchAll(ROW)].map(([, , crate]) => crate).toSorted()).toEqual([...uses.keys()].toSorted());
  expect(text).toBe(withUses(text));
});

test('the tests that SECURITY.md names are there', () => {
  const named = [...read('SECURITY.md').matchAll(/`((?:__test__|crates)\/[^`]+)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([]);
});
