import { expect, test } from 'vitest';
import { page, source } from './examples.ts';

const embedding = await page('embedding.md');
const programs = [...embedding.matchAll(/^```js\n(.*?)^```$/gms)].map((match) => match[1]);

// The programs themselves are run by __test__/examples.
test('the page has the prompt as it stands, and no other snippet', async () => {
  expect(programs).toEqual([await source('examples/prompt/main.mjs')]);
  expect(embedding.match(/^```\w/gm)).toHaveLength(1);
});

test('the page names each message of the server', async () => {
  const server = await source('examples/json-server/main.mjs');
  const types = [...server.matchAll(/type(?:: | === )'(\w+)'/g)].map(([, type]) => type);
  expect(types.length).toBeGreaterThan(4);
  for (const type of types) expect(embedding).toContain(`{"type":"${type}","id":1`);
});
