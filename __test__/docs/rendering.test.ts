import { expect, test } from 'vitest';
import { page, source, spans, table } from './examples.ts';

const rendering = await page('rendering.md');
const types = await source('ts/render/types.ts');

test.each([
  ['RenderInput', 'The run'],
  ['RenderOptions', 'The options'],
])('the table of %s has each field', (name, heading) => {
  const declared = new RegExp(`export interface ${name} \\{\n(.*?)^\\}`, 'ms').exec(types)?.[1] ?? '';
  const fields = [...declared.matchAll(/^ {2}(\w+)\??:/gm)].map(([, field]) => field);
  expect(fields.length).toBeGreaterThan(3);
  expect(
    table(rendering, heading)
      .flatMap(([cell = '']) => spans(cell))
      .sort(),
  ).toEqual(fields.sort());
});

test('the table of classes has each kind of line and each state', async () => {
  const named = table(rendering, 'HTML').flatMap(([cell = '']) =>
    spans(cell).map((span) => span.replace(/^agent-bash-|^-/, '')),
  );
  const words = (text: string) => [...text.matchAll(/'([\w-]+)'/g)].map(([, word]) => word);
  const kinds = words(/export type Kind =\n(.*?);/s.exec(await source('ts/render/view.ts'))?.[1] ?? '');
  const states = words([...(await source('ts/result.ts')).matchAll(/^ {2}status: .*/gm)].join());
  expect(states).toHaveLength(6);
  expect(kinds.length).toBeGreaterThan(10);
  expect([...kinds, ...states, 'running', 'not-run'].filter((name) => !named.includes(name ?? ''))).toEqual([]);
});
