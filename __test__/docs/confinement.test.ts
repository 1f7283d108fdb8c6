import { expect, test } from 'vitest';
import { facts } from './built.ts';
import { wrapped } from './examples.ts';
import { generated } from './generated.ts';
import { code, lines } from './tables.ts';

const { parts, ways, hide, hideOfSystem } = facts.confine;

/** The paths, those of one directory in braces, with rows that fit a page. */
function inBraces(paths: string[]): string[] {
  const directoryOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1);
  return [...new Set(paths.map(directoryOf))].flatMap((directory) => {
    const inside = paths.filter((path) => directoryOf(path) === directory);
    // A person searches for a name at the top of a home as it is.
    if (directory === '~/') return inside;
    const rows: string[][] = [];
    for (const name of inside.map((path) => path.slice(directory.length))) {
      const row = rows.at(-1);
      if (row && `${directory}{${[...row, name]}}`.length <= 100) row.push(name);
      else rows.push([name]);
    }
    return rows.map((row) => directory + (row.length > 1 ? `{${row}}` : row));
  });
}

/** The hidden paths, those of a home first. */
function hidden(): string {
  const list = (paths: string[]) =>
    wrapped(
      inBraces([...new Set(paths)].sort())
        .map(code)
        .join(', '),
    );
  return [
    'In the home:',
    list(hide.map(({ path }) => `~/${path}`)),
    'Of the system:',
    list(hideOfSystem.map(({ path }) => path)),
  ].join('\n\n');
}

/** What a way holds: the parts with what each needs, those of one need together. */
function held(needs: readonly (string | null)[], besides: string): string {
  const needed = [...new Set(needs)].flatMap((need) => {
    const those = parts.filter((_, index) => needs[index] === need).map(code);
    return need === null ? [] : [`${those.join(', ')}: ${need}`];
  });
  return [...needed, ...(besides === '' ? [] : [`besides ${besides}`])].join('; ') || 'nothing';
}

await generated('confinement.md', {
  ways: lines(
    ['way', 'holds'],
    ways.map(({ name, needs, besides }) => [code(`'${name}'`), held(needs, besides)]),
  ),
  hide: hidden(),
});

test('the ways begin with the one that holds all, and end with none', () => {
  const held = ways.map(({ needs }) => needs.filter((need) => need !== null).length);
  expect(ways.map(({ name }) => name).at(-1)).toBe('seatbelt');
  expect([held[0], held.at(-2)]).toEqual([parts.length, 0]);
  expect([...held.slice(0, -1)].sort((a, b) => b - a)).toEqual(held.slice(0, -1));
});
