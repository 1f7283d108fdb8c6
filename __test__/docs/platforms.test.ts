import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { levelsText, recordedTable } from '../../scripts/machines/levels.mjs';
import { source } from './examples.ts';

const ROOT = join(import.meta.dirname, '../..');
const NAME = 'docs/platforms.md';
const place = /(<!-- machines: [^\n]* -->\n\n)(.*?)(\n<!-- end -->)/s;

// After `npm run machines -- --record`: UPDATE_DOCS=1 npm test -- docs/platforms
if (process.env.UPDATE_DOCS === '1') {
  const text = (await source(NAME)).replace(place, (_, start, __, end) => start + recordedTable() + end);
  await writeFile(join(ROOT, NAME), text);
}

test('the page lists the recorded rows', async () => {
  expect(place.exec(await source(NAME))?.[2]).toBe(recordedTable());
});

test('the page and npm/levels.json have the level of each platform', async () => {
  expect(await readFile(join(ROOT, 'npm/levels.json'), 'utf8')).toBe(levelsText());
  const page = await source(NAME);
  for (const [platform, level] of Object.entries(JSON.parse(levelsText()))) {
    expect(page).toMatch(new RegExp(`\\| \`${platform}\` \\|[^\\n]*\\| ${level} \\|`));
  }
});
