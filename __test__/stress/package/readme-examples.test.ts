import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compiled, examples } from '../../docs/examples.ts';
import { PACKING, type PackedProject, packedProject, root, run } from './packed.ts';

// As a newcomer: the packed tarballs in a small project, and what the README shows pasted into a file of it.

const PROVIDER = `
  import { MockLanguageModelV4 } from 'ai/test';
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const step = (unified, part) => ({ content: [part], finishReason: { unified, raw: undefined }, usage, warnings: [] });
  const model = new MockLanguageModelV4({
    doGenerate: [
      step('tool-calls', { type: 'tool-call', toolCallId: '1', toolName: 'bash', input: '{"command":"npm test"}' }),
      step('stop', { type: 'text', text: 'All tests pass.' }),
    ],
  });
  globalThis.AI_SDK_DEFAULT_PROVIDER = { specificationVersion: 'v4', languageModel: () => model };`;

/** The output of each example, in turn. */
const PRINTED = [/^[12] v\d+\S*\n ls: .*no-such-file/, /^All tests pass\.\n$/];

// Examples with a target are run by __test__/stress/docs/docs/remote.test.ts.
const found = examples(await readFile(join(root, 'README.md'), 'utf8')).filter((text) => !text.includes('connect('));

let project: PackedProject;

beforeAll(async () => {
  project = await packedProject();
  const { folder } = project;
  const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const own = { name: 'small', private: true, type: 'module', scripts: { test: 'echo 3 passing' } };
  await mkdir(join(folder, 'home'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...own, dependencies }));
  await writeFile(join(folder, 'provider.mjs'), PROVIDER);
  await symlink(join(root, 'node_modules', 'ai7'), join(folder, 'node_modules', 'ai'));
}, PACKING);

afterAll(() => project?.[Symbol.asyncDispose]());

test('each example is run', () => {
  expect(found.length).toBe(PRINTED.length);
});

test.each(PRINTED.map((printed, index) => ({ number: index + 1, printed })))('example $number', async (one) => {
  const name = `example-${one.number}.mjs`;
  await writeFile(join(project.folder, name), compiled(found[one.number - 1] ?? ''));
  const env = {
    ...process.env,
    HOME: join(project.folder, 'home'),
    NO_COLOR: '1',
    FORCE_COLOR: undefined,
    NODE_OPTIONS: '',
  };
  const ended = await run(process.execPath, ['--import', './provider.mjs', name], project.folder, env);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(one.printed);
});
