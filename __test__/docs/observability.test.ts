import { expect, test } from 'vitest';
import { page, source, spans, table } from './examples.ts';

test('the table of channels has each of them, with the fields of its type', async () => {
  const types = await source('ts/observe/channels.ts');
  const channels = [...types.matchAll(/= channel\('([\w:-]+)'\)/g)].map(([, name]) => name);
  const rows = table(await page('observability.md'), 'The channels');
  expect(rows.map(([cell = '']) => spans(cell)[0])).toEqual(channels);
  for (const [, , fields = '', type = ''] of rows) {
    const declared = new RegExp(`export interface ${spans(type)[0]} .*?\\{\n(.*?)^\\}`, 'ms').exec(types)?.[1] ?? '';
    const own = [...declared.matchAll(/^ {2}(\w+): /gm)].map(([, field = '']) => field);
    expect(own.length).toBeGreaterThan(1);
    const shared = ['id', 'kind', 'pid', 'target'];
    const named = spans(fields).filter((field) => !shared.includes(field));
    expect(named).toEqual(own.filter((field) => !shared.includes(field)));
  }
});
