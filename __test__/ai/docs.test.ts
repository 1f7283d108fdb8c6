import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { compiled, examples, page } from '../docs/examples.ts';
import { MAJORS, type Step } from './fixtures/majors.ts';

// Below the package and of this run, so that `agent-bash/ai` is found as a reader of the docs finds it; ignored by git.
const folder = join(import.meta.dirname, `../../.stamp/docs-ai-sdk-${process.pid}`);
const blocks = examples(await page('ai-sdk.md'));

const call = (command: string): Step => ({ call: { command } });

/** The model's steps and the output of each block, in order. */
const RUNS: { steps: Step[]; printed: unknown[][] }[] = [
  { steps: [call('pwd'), { say: 'All is well.' }], printed: [['All is well.']] },
  {
    steps: [{ call: { command: 'exit 3', mode: 'background' } }, call('sleep 1'), { say: 'It is up.' }],
    printed: [['exit 3: exited'], ['It is up.']],
  },
  {
    steps: [call('rm -rf /no-such-folder/cache'), call('npm publish'), { say: 'The cache is empty.' }],
    printed: [['rm -rf /no-such-folder/cache'], ['The cache is empty.']],
  },
  { steps: [call('test "$APP_USER" = ann')], printed: [['test "$APP_USER" = ann → 0']] },
];

/** The values that a block's comments give for ai 6. */
function forSix(block: string): string {
  const told = block
    .replace(/toolsContext: \{ bash: (.*?) \}, \/\/ ai 6: .*/, 'experimental_context: $1,')
    .replace(/tools: \{ bash \},\n\s*toolApproval: .* \/\/ ai 6: (.*)/, '$1,')
    .replace(/\.\.\.responseMessages\); \/\/ ai 6: (.*)/, '...$1);')
    .replace(/, reason = '' \} = part; \/\/ ai 6: (.*)/, ' } = part; const reason = $1;');
  return told.replace('{ content, responseMessages, text }', '{ content, response, text }');
}

beforeAll(() => mkdir(folder, { recursive: true }));
afterEach(() => {
  vi.restoreAllMocks();
  Reflect.deleteProperty(globalThis, 'AI_SDK_DEFAULT_PROVIDER');
});
afterAll(() => rm(folder, { recursive: true }));

it('every block of the docs is run', () => {
  expect(blocks.length).toBe(RUNS.length);
});

describe.each(MAJORS)('%s', (name, { script }) => {
  it.each(RUNS.map((run, index) => ({ ...run, index })))('block $index', async ({ steps, printed, index }) => {
    const { model } = script(steps);
    const { specificationVersion } = model as { specificationVersion: string };
    const provider = { specificationVersion, languageModel: () => model };
    Object.assign(globalThis, { AI_SDK_DEFAULT_PROVIDER: provider });
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const major = name.replace(' ', '');
    const block = blocks[index] as string;
    const source = (name === 'ai 6' ? forSix(block) : block).replaceAll("from 'ai';", `from '${major}';`);
    const file = join(folder, `${major}-${index}.mjs`);
    await writeFile(file, compiled(source));
    await import(/* @vite-ignore */ pathToFileURL(file).href);
    expect(log.mock.calls).toEqual(printed);
  });
});
