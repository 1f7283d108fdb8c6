import { expect, test } from 'vitest';
import { page, source } from './examples.ts';

const embedding = await page('embedding.md');
const programs = [...embedding.matchAll(/^```js\n(.*?)^```$/gms)].map((match) => match[1]);

// The programs themselves are run by __test__/examples.
test.each(['examples/prompt/main.mjs', 'examples/json-server/main.mjs'])(
  'the page has %s as it stands',
  async (path) => {
    expect(programs).toContain(await source(path));
  },
);

test('the page has no other snippet', () => {
  expect(embedding.match(/^```\w/gm)).toHaveLength(2);
});
