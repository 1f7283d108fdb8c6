import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PARTS } from '../../scripts/stress.mjs';
import { source } from './examples.ts';

const NAME = 'CONTRIBUTING.md';
const place = /(<!-- parts: [^\n]* -->\n\n)(.*?)(\n<!-- end -->)/s;
const rows = PARTS.map(({ name, covers }) => `| \`${name}\` | ${covers} |\n`).join('');
const table = `| part | what it covers |\n|---|---|\n${rows}`;

// After a change of the parts: UPDATE_DOCS=1 npm test -- docs/testing
if (process.env.UPDATE_DOCS === '1') {
  const text = (await source(NAME)).replace(place, (_, start, __, end) => start + table + end);
  await writeFile(join(import.meta.dirname, '../..', NAME), text);
}

test('the page has the parts of stress', async () => {
  expect(place.exec(await source(NAME))?.[2]).toBe(table);
});
