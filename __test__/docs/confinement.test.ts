import { expect, test } from 'vitest';
import { facts } from './built.ts';
import { generated } from './generated.ts';
import { code, lines } from './tables.ts';

const { parts, ways } = facts.confine;

await generated('confinement.md', {
  ways: lines(
    ['way', ...parts.map(code), 'besides'],
    ways.map(({ name, needs, besides }) => [code(`'${name}'`), ...needs.map((need) => need ?? 'not held'), besides]),
  ),
});

test('the ways begin with the one that holds all, and end with none', () => {
  const held = ways.map(({ needs }) => needs.filter((need) => need !== null).length);
  expect(ways.map(({ name }) => name).at(-1)).toBe('seatbelt');
  expect([held[0], held.at(-2)]).toEqual([parts.length, 0]);
  expect([...held.slice(0, -1)].sort((a, b) => b - a)).toEqual(held.slice(0, -1));
});
