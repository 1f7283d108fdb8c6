import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
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
const PRINTED = [
  /^[12] v\d+\S*\n ls: .*no-such-file/,
  /^All tests pass\.\n$/,
  /^Done\. \{"role":"tool".*\bv\d+\.\d+/,
  /^step 1\nstep 2\nstep 3\nexited 0 nothing was cut\n$/,
  /^served\n\nbuilt\n\n$/,
  /\/demo Hello, Ada\n/,
  /package name: \(\S+\) my-thing\nversion:/,
  /^ask .*git clean.*\n.*out\.txt/s,
  /^denied: write \/etc\/hosts bash\n$/,
  /^1 \/.*\/notes\n2 1 0\n$/,
  /^\{ before: \d+, after: \d+ \} red true \/.*\n$/,
  /^0 hi\n\n$/,
  /^$/, // a server of the reader's own, not yet connected; docs/mcp.md has all of it
];

const found = examples(await readFile(join(root, 'README.md'), 'utf8'));

let project: PackedProject;
let port: number;

/** A free port: the README's may be taken. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await new Promise((resolve) => server.once('listening', resolve));
  const { port: free } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return free;
}

beforeAll(async () => {
  project = await packedProject();
  port = await freePort();
  const { folder } = project;
  const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const own = { name: 'small', private: true, type: 'module', scripts: { test: 'echo 3 passing' } };
  // No undo point is made for the home directory itself.
  await mkdir(join(folder, 'home'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...own, dependencies }));
  await writeFile(join(folder, 'provider.mjs'), PROVIDER);
  await symlink(join(root, 'node_modules', 'ai7'), join(folder, 'node_modules', 'ai'));
  await symlink(
    join(root, 'node_modules', '@modelcontextprotocol'),
    join(folder, 'node_modules', '@modelcontextprotocol'),
  );
}, PACKING);

afterAll(() => project?.[Symbol.asyncDispose]());

test('each example is run', () => {
  expect(found.length).toBe(PRINTED.length);
});

test.each(PRINTED.map((printed, index) => ({ number: index + 1, printed })))('example $number', async (one) => {
  const name = `example-${one.number}.mjs`;
  // Its bound on npm is for a machine that does nothing else.
  const example = (found[one.number - 1] ?? '').replaceAll('10_000', '40_000');
  const text = compiled(example).replaceAll('3000', String(port));
  await writeFile(join(project.folder, name), text);
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
