import { readdirSync } from 'node:fs';
import { defineConfig } from 'tsdown';
import { pageAppPlugin } from './scripts/page-app.mjs';

const shared = {
  platform: 'node',
  target: 'node20',
  outDir: 'dist',
  dts: true,
  // Two runs write here; scripts/build.mjs removes what neither did.
  clean: false,
  // Names and lines stay as they are, for stack traces. Editors read the comments of the declarations.
  outputOptions: { comments: { jsdoc: false } },
} as const;

/** The adapters for agent frameworks: an entry for each directory. */
const frameworks = readdirSync('ts/frameworks').filter((name) => name !== 'shared');

/** The parts that several entries share, each in one file: each further file takes time to load. */
const PARTS = {
  includeDependenciesRecursively: false,
  groups: [
    { name: 'sandboxes', test: /\/ts\/sandbox\/(?!index).*(?<!\.d)\.ts$/, minShareCount: 2 },
    { name: 'providers', test: /\/ts\/provider\/.*(?<!\.d)\.ts$/, minShareCount: 2 },
    { name: 'adapters', test: /\/ts\/frameworks\/shared\/.*(?<!\.d)\.ts$/, minShareCount: 2 },
  ],
};

export default defineConfig([
  // The main entry is CommonJS for import and require, so that both share one addon and one state. Its code is in a
  // second file, since Node reads the whole file that is imported for the names of its exports, which takes longer than
  // to load it.
  {
    ...shared,
    name: 'main',
    entry: { index: 'ts/index.ts' },
    format: 'cjs',
    outputOptions: {
      ...shared.outputOptions,
      codeSplitting: { groups: [{ name: 'code', test: /(?<!\.d)\.ts$/ }] },
      // Another name than that of the chunk: rolldown confuses \`require_NAME\` with its own name for the file.
      chunkFileNames: 'main.cjs',
    },
  },
  // The other entries come as twins. They import the main entry from the package itself.
  {
    ...shared,
    name: 'entries',
    entry: {
      ai: 'ts/ai/index.ts',
      sandbox: 'ts/sandbox/index.ts',
      anthropic: 'ts/anthropic/index.ts',
      openai: 'ts/openai/index.ts',
      render: 'ts/render/index.ts',
      otel: 'ts/otel/index.ts',
      kubernetes: 'ts/kubernetes/index.ts',
      slurm: 'ts/slurm/index.ts',
      ...Object.fromEntries(frameworks.map((name) => [name, `ts/frameworks/${name}/index.ts`])),
    },
    format: ['esm', 'cjs'],
    deps: { neverBundle: [/^agent-bash(\/|$)/, 'ai', /^@(langchain|mastra|anthropic-ai)\//] },
    outputOptions: { ...shared.outputOptions, codeSplitting: PARTS },
  },
  // The page, with its browser app as text inside.
  {
    ...shared,
    name: 'entries',
    entry: { page: 'ts/page/index.ts' },
    format: ['esm', 'cjs'],
    deps: { neverBundle: ['agent-bash'] },
    plugins: [pageAppPlugin()],
  },
  // Built by itself, so that it shares no file with those above: it takes the tool from the package, as users do.
  {
    ...shared,
    name: 'entries',
    entry: { mcp: 'ts/mcp/index.ts' },
    format: ['esm', 'cjs'],
    deps: { neverBundle: [/^agent-bash(\/|$)/] },
  },
  // The program, `npx agent-bash`. Its argument parser comes along in the package. The MCP SDK, of which it needs a
  // part, is in a file of its own, which only `agent-bash mcp` loads.
  {
    ...shared,
    // Built together with the entries, by this name.
    name: 'entries',
    entry: { cli: 'ts/cli/main.ts' },
    format: 'esm',
    dts: false,
    deps: { neverBundle: [/^agent-bash(\/|$)/, 'commander'], onlyBundle: false },
    outputOptions: { ...shared.outputOptions, codeSplitting: { groups: [{ name: 'mcp-sdk', test: /node_modules/ }] } },
  },
]);
