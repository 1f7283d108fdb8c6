import { describe, expect, test } from 'vitest';
import { examples, page, printed, promised } from '../../../docs/examples.ts';
import { folder } from '../../../support/index.ts';

const pages = [
  'running.md',
  'shells.md',
  'limits.md',
  'output.md',
  'environment.md',
  'evidence.md',
  'platforms.md',
  'background.md',
  'safety.md',
  'confinement.md',
  'containers.md',
  'moving.md',
  'performance.md',
  'terminals.md',
  'rendering.md',
  'observability.md',
  'receipts.md',
  'drafts.md',
  'secrets.md',
  'undo.md',
  'ledger.md',
  'page.md',
  'tokens.md',
  'frameworks.md',
];

// Each example runs unchanged. The comments behind its console.log lines give the output.
describe.each(pages)('docs/%s', async (name) => {
  const blocks = examples(await page(name)).map((example, index) => ({ example, number: index + 1 }));

  test('has examples, and each shows something', () => {
    expect(blocks.length).toBeGreaterThan(0);
    for (const { example } of blocks) expect(promised(example), example).not.toEqual([]);
  });

  test.each(blocks)('example $number', async ({ example }) => {
    expect(await printed(example, folder())).toEqual(promised(example));
  });
});
