import { expect, it } from 'vitest';
import { modelSentences } from './fixtures/model-sentences.ts';

// A change of these sentences changes what models do: the diff of the file shows each one. `npx vitest run -u
// model-sentences` writes the file anew.
it('the sentences that models read are these, word for word', async () => {
  await expect(await modelSentences()).toMatchFileSnapshot('fixtures/model-sentences.txt');
});
