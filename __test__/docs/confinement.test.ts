import { expect, test } from 'vitest';
import { facts } from './built.ts';
import { generated } from './generated.ts';
import { code, lines } from './tables.ts';

const { parts, ways, hide, hideOfSystem } = facts.confine;

/** The hidden paths with what they have, in its order. */
function hidden(): string {
  const all = [...hide.map((one) => ({ ...one, path: `~/${one.path}` })), ...hideOfSystem];
  const whats = [...new Set(all.map(({ what }) => what))].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const paths = (what: string) => all.filter((one) => one.what === what).map(({ path }) => code(path));
  return lines(
    ['what', 'hidden'],
    whats.map((what) => [what, paths(what).join(', ')]),
  );
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
