import { expect, test } from 'vitest';
import { page, source, spans } from './examples.ts';

const tokens = await page('tokens.md');
const types = await source('ts/reduce/types.ts');

/** The rows of the table with these words at the start of its head. */
function rowsOf(text: string, head: string): string[][] {
  const table = text.slice(text.indexOf(`| ${head} `)).split('\n\n')[0] ?? '';
  return table
    .split('\n')
    .slice(2)
    .map((row) => row.slice(2, -2).split(' | '));
}

test.each([
  ['ReduceOptions', 'option | meaning'],
  ['View', 'field of a view'],
])('the table of %s has each field', (name, head) => {
  const declared = new RegExp(`export interface ${name} \\{\n(.*?)^\\}`, 'ms').exec(types)?.[1] ?? '';
  const fields = [...declared.matchAll(/^ {2}(\w+)\??:/gm)].map(([, field]) => field);
  expect(fields.length).toBeGreaterThan(3);
  const named = rowsOf(tokens, head).flatMap(([cell = '']) => spans(cell));
  expect(named.sort()).toEqual(fields.sort());
});
