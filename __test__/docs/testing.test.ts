import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PARTS } from '../../scripts/stress.mjs';
import { page } from './examples.ts';

const NAME = 'testing.md';
const place = /(<!-- parts: [^\n]* -->\n\n)(.*?)(\n<!-- end -->)/s;
const rows = PARTS.map(({ name, covers }) => `| \`${name}\` | ${covers} |\n`).join('');
const table = `| part | what it covers |\n|---|---|\n${rows}`;

// After a change of the parts: UPDATE_DOCS=1 npm test -- docs/testing
if (process.env.UPDATE_DOCS === '1') {
  const text = (await page(NAME)).replace(place, (_, start, __, end) => start + table + end);
  await writeFile(join(import.meta.dirname, '../../docs', NAME), text);
}

test('the page has the parts of stress', async () => {
  expect(place.exec(await page(NAME))?.[2]).toBe(table);
});
