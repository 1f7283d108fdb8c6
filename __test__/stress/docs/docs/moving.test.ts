import { describe, expect, test } from 'vitest';
import { blocks, page, printed, promised } from '../../../docs/examples.ts';
import { folder } from '../../../support/index.ts';

const text = await page('moving.md');
const theirs = blocks(text).filter(({ kind }) => kind === 'js');

// Those of this package are run with those of all pages, by examples.test.ts.
describe('docs/moving.md', () => {
  test.each(theirs.map((block, index) => [index + 1, block.text]))(
    'other tools do what it says: %i',
    async (_, code) => {
      expect(promised(code).length).toBeGreaterThan(0);
      expect(await printed(code, folder())).toEqual(promised(code));
    },
  );

  test('it has one such example', () => {
    expect(theirs).toHaveLength(1);
  });
});
