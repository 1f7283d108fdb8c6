import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { levelsText, pageText } from '../../scripts/machines/levels.mjs';
import { source } from './examples.ts';

const ROOT = join(import.meta.dirname, '../..');
const NAME = 'docs/platforms.md';

// `npm run platforms` writes all three.
test('the page lists the recorded rows and levels', async () => {
  const text = await source(NAME);
  expect(text).toBe(pageText(text));
});

test('the page and npm/levels.json have the level of each platform', async () => {
  expect(await readFile(join(ROOT, 'npm/levels.json'), 'utf8')).toBe(levelsText());
  const page = await source(NAME);
  for (const [platform, level] of Object.entries(JSON.parse(levelsText()))) {
    expect(page).toMatch(new RegExp(`\\| \`${platform}\` \\|[^\\n]*\\| ${level} \\|`));
  }
});
