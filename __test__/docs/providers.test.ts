import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Api, anthropicApi, openaiApi, shellCall, use } from '../providers/fixtures/wire.ts';
import { compiled, examples, page } from './examples.ts';

// Below the package and of this run, so that its entries are found as a reader of the page finds them; ignored by git.
const folder = join(import.meta.dirname, `../../.stamp/docs-providers-${process.pid}`);
const blocks = examples(await page('providers.md'));

/** The API's answers and the output of each block, in order. */
const RUNS: { answers: () => Api; printed: unknown[][] }[] = [
  {
    answers: () => anthropicApi([use({ command: 'cd lib' })], [use({ command: 'pwd' }, 'toolu_2')], 'In lib.'),
    printed: [['In lib.'], ['/usr/lib']],
  },
  {
    answers: () => openaiApi([shellCall(['cd lib', 'exit 3'])], 'There.'),
    printed: [['cd lib → 0'], ['exit 3 → 3'], ['There.']],
  },
  { answers: () => openaiApi([shellCall(['ls lib'])], 'There.'), printed: [['There.', 0]] },
];

// A client that a package keeps for all its runs keeps the fetch that it found first, too.
let api: Api;

beforeAll(async () => {
  await mkdir(folder, { recursive: true });
  vi.stubGlobal('fetch', (...request: Parameters<typeof fetch>) => api.fetch(...request));
  for (const name of ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY']) vi.stubEnv(name, 'none');
  vi.stubEnv('OPENAI_AGENTS_DISABLE_TRACING', '1');
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

it('every block of the page is run', () => {
  expect(blocks.length).toBe(RUNS.length);
});

describe.each([
  ['ai 6', 3],
  ['ai 7', 4],
])('%s', (name, provider) => {
  it.each(RUNS.map((run, index) => ({ ...run, index })))('block $index', async ({ answers, printed, index }) => {
    api = answers();
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const major = name.replace(' ', '');
    const source = (blocks[index] as string)
      .replaceAll("from 'ai';", `from '${major}';`)
      .replace(/from '(@ai-sdk\/\w+)';/, `from '$1${provider}';`);
    const file = join(folder, `${major}-${index}.mjs`);
    await writeFile(file, compiled(source));
    await import(/* @vite-ignore */ pathToFileURL(file).href);
    expect(log.mock.calls).toEqual(printed);
    // All that the API was to say has been said.
    await expect(api.fetch('', { body: '{}' })).rejects.toThrow('the script is at its end');
  });
});
