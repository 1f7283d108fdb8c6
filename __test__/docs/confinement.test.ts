import { expect, test } from 'vitest';
import { facts } from './built.ts';
import { wrapped } from './examples.ts';
import { generated } from './generated.ts';
import { code, lines } from './tables.ts';

const { parts, ways, hide, hideOfSystem } = facts.confine;

/** The hidden paths, those of a home first. */
function hidden(): string {
  const list = (paths: string[]) => wrapped([...new Set(paths)].sort().map(code).join(', '));
  return [
    'In the home:',
    list(hide.map(({ path }) => `~/${path}`)),
    'Of the system:',
    list(hideOfSystem.map(({ path }) => path)),
  ].join('\n\n');
}

await generated('confinement.md', {
  ways: lines(
    ['way', ...parts.map(code), 'besides'],
    ways.map(({ name, needs, besides }) => [code(`'${name}'`), ...needs.map((need) => need ?? 'not held'), besides]),
  ),
  hide: hidden(),
});

test('the ways begin with the one that holds all, and end with none', () => {
  const held = ways.map(({ needs }) => needs.filter((need) => need !== null).length);
  expect(ways.map(({ name }) => name).at(-1)).toBe('seatbelt');
  expect([held[0], held.at(-2)]).toEqual([parts.length, 0]);
  expect([...held.slice(0, -1)].sort((a, b) => b - a)).toEqual(held.slice(0, -1));
});
