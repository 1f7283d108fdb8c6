import { warmShells } from 'agent-bash';
import { afterAll, describe, expect, test } from 'vitest';
import { coldStarts, differences } from './known.ts';
import { Place } from './place.ts';
import { plain } from './plain.ts';
import { compared, environment, firstDifference, outcomeOf, runIn } from './ways.ts';

const place = new Place();
afterAll(() => place.remove());

describe('known differences', () => {
  const each = differences.flatMap(({ ways, example, ...one }) =>
    example === undefined ? [] : ways.map((way) => ({ ...one, example, way })),
  );

  // One that is gone is to be taken off the list.
  test.each(each)('$way: $what', async ({ way, example, in: where, shown }) => {
    expect(example).toMatch(where);
    const env = await environment();
    const expected = await place.use((cwd) => plain(example, { cwd, env }));
    const found = await place.use((cwd) => runIn(way, example, { cwd }));
    expect(firstDifference(compared(way, expected), compared(way, outcomeOf(found)))).toMatch(shown);
  });
});

describe('a command starts cold', () => {
  const each = coldStarts.flatMap((one) => one.examples.map((example) => [one.what, example, one.in] as const));

  test.each(each)('when %s: %s', async (_, example, where) => {
    expect(example).toMatch(where);
    const before = warmShells().used;
    await place.use((cwd) => runIn('warm', example, { cwd }));
    expect(warmShells().used).toBe(before);
  });

  test.each([
    'set -e',
    'set -- a; echo $1',
    'declare x=1',
    'declare -A m=([a]=1)',
    'f() { local x=1; }; f',
    'readonly y=2',
    'echo reset preset',
  ])('but not for %s', async (example) => {
    const before = warmShells().used;
    await place.use((cwd) => runIn('warm', example, { cwd }));
    expect(warmShells().used).toBe(before + 1);
  });
});
