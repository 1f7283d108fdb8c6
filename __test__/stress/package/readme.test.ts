import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { adapters } from '../../../scripts/frameworks.mjs';
import { root, run } from './packed.ts';

/** The TypeScript examples of a page, each with its file: the one that the page asks for, or one by its line. */
async function examples(file: string): Promise<{ name: string; text: string }[]> {
  const page = await readFile(file, 'utf8');
  return [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((found) => {
    const before = page.slice(0, found.index);
    const [, saved] = /Save this as `([^`]+)`[^`]*$/.exec(before) ?? [];
    return { name: saved ?? `${basename(file, '.md')}-line-${before.split('\n').length + 1}.ts`, text: found[1] ?? '' };
  });
}

test('the examples of the README and of docs/ compile', async () => {
  // Examples of adapters need their frameworks, and are run where these are installed.
  const ofAdapters = adapters().map((name) => `${name}.md`);
  const docs = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md') && !ofAdapters.includes(name));
  const pages = [join(root, 'README.md'), ...docs.map((name) => join(root, 'docs', name))];
  const folder = await mkdtemp(join(tmpdir(), 'agent-bash-readme-'));
  try {
    const files: string[] = [];
    for (const page of pages) {
      for (const { name, text } of await examples(page)) {
        // One module each, with its own imports.
        await writeFile(join(folder, name), `${text}\nexport {};\n`);
        files.push(name);
      }
    }
    expect(files.length).toBeGreaterThan(0);
    const compilerOptions = {
      module: 'preserve',
      moduleResolution: 'bundler',
      target: 'es2022',
      lib: ['es2023'],
      types: ['node'],
      typeRoots: [join(root, 'node_modules', '@types')],
      paths: {
        'agent-bash': [join(root, 'index.d.ts')],
        'agent-bash/*': [join(root, 'dist', '*.d.mts')],
        ai: [join(root, 'node_modules', 'ai7')],
        'ai/*': [join(root, 'node_modules', 'ai7', '*')],
        '@ai-sdk/anthropic': [join(root, 'node_modules', '@ai-sdk', 'anthropic4')],
        '@ai-sdk/openai': [join(root, 'node_modules', '@ai-sdk', 'openai4')],
        '@openai/agents': [join(root, 'node_modules', '@openai', 'agents')],
        '@modelcontextprotocol/sdk/*': [join(root, 'node_modules', '@modelcontextprotocol', 'sdk', 'dist', 'esm', '*')],
        '@opentelemetry/*': [join(root, 'node_modules', '@opentelemetry', '*')],
        zod: [join(root, 'node_modules', 'zod')],
      },
      strict: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      noEmit: true,
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const ended = await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc')], folder);
    expect(ended.stdout).toBe('');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
