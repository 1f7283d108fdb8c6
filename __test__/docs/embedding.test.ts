import { expect, test } from 'vitest';
import { page, source } from './examples.ts';

const embedding = await page('embedding.md');

// The programs are run by __test__/stress/examples.
test('the page names each message of the server', async () => {
  const server = await source('examples/json-server/main.mjs');
  const types = [...server.matchAll(/type(?:: | === )'(\w+)'/g)].map(([, type]) => type);
  expect(types.length).toBeGreaterThan(4);
  for (const type of types) expect(embedding).toContain(`{"type":"${type}","id":1`);
});
