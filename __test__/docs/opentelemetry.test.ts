import { expect, test } from 'vitest';
import { folder } from '../support/index.ts';
import { examples, page, printed, promised } from './examples.ts';

const all = examples(await page('opentelemetry.md'));

test('the page has examples, and each shows something', () => {
  expect(all).toHaveLength(3);
  for (const example of all) expect(promised(example), example).not.toEqual([]);
});

test.each(all)('the example prints what the page says: %#', async (example) => {
  expect(await printed(example, folder())).toEqual(promised(example));
});
