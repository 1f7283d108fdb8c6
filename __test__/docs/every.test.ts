import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { adapters } from '../../scripts/frameworks.mjs';
import { packageRoot } from '../support/index.ts';
import { blocks, source } from './examples.ts';

// Every block of code on a page is run by a test. This table names that test for each page and kind of block. A test
// that runs only some of a page's blocks must count them.

const EXAMPLES = '__test__/stress/docs/docs/examples.test.ts';
const COMMANDS = '__test__/stress/docs/docs/commands.test.ts';
const MCP = '__test__/stress/docs/docs/mcp.test.ts';
const REMOTE = '__test__/stress/docs/docs/remote.test.ts';
const FLEETS = '__test__/docs/fleets.test.ts';
const CONTAINERS = '__test__/docs/containers.test.ts';

const RUN_BY: Record<string, Record<string, string>> = {
  'README.md': { ts: '__test__/stress/package/readme-examples.test.ts', sh: '__test__/stress/package/packed.test.ts' },
  'bench/README.md': { sh: COMMANDS },
  'docs/ai-sdk.md': { ts: '__test__/ai/docs.test.ts' },
  'docs/background.md': { ts: EXAMPLES },
  'docs/bundling.md': {
    ts: '__test__/stress/package/bundling.test.ts',
    js: '__test__/stress/package/bundling.test.ts',
  },
  'docs/cli.md': { apparmor: '__test__/cli/doctor-fix.test.ts', sh: COMMANDS },
  'docs/confinement.md': { ts: EXAMPLES },
  'docs/containers.md': {
    ts: EXAMPLES,
    dockerfile: CONTAINERS,
    json: CONTAINERS,
    sh: CONTAINERS,
    yaml: CONTAINERS,
  },
  'docs/environment.md': { ts: EXAMPLES },
  'docs/evidence.md': { ts: EXAMPLES },
  'docs/fleets.md': { json: FLEETS, ts: FLEETS, yaml: '__test__/stress/fleets/docs.test.ts' },
  'docs/frameworks.md': { ts: EXAMPLES },
  'docs/ledger.md': { ts: EXAMPLES, sh: COMMANDS },
  'docs/limits.md': { ts: EXAMPLES, sh: '__test__/stress/load/supervise/cgroup.test.ts' },
  'docs/mcp.md': { js: MCP, json: MCP, sh: MCP, toml: MCP },
  'docs/moving.md': { js: '__test__/stress/docs/docs/moving.test.ts', ts: EXAMPLES },
  'docs/observability.md': { ts: EXAMPLES },
  'docs/output.md': { ts: EXAMPLES },
  'docs/page.md': { ts: EXAMPLES, sh: COMMANDS },
  'docs/performance.md': { ts: EXAMPLES },
  'docs/platforms.md': { ts: EXAMPLES },
  'docs/providers.md': { ts: '__test__/docs/providers.test.ts' },
  'docs/receipts.md': { ts: EXAMPLES },
  'docs/remote.md': { sh: REMOTE, ts: REMOTE },
  'docs/rendering.md': { ts: EXAMPLES },
  'docs/running.md': { ts: EXAMPLES },
  'docs/safety.md': { ts: EXAMPLES, sh: COMMANDS },
  'docs/sandbox.md': { js: '__test__/sandbox/docs.test.ts', ts: REMOTE },
  'docs/secrets.md': { ts: EXAMPLES },
  'docs/shells.md': { ts: EXAMPLES },
  'docs/terminals.md': { ts: EXAMPLES },
  'docs/testing-agents.md': { ts: '__test__/ai/testing-agents.test.ts' },
  'docs/tokens.md': { ts: EXAMPLES },
  'docs/drafts.md': { ts: EXAMPLES },
  'docs/undo.md': { ts: EXAMPLES },
  'examples/coding-agent/README.md': { sh: COMMANDS },
  ...Object.fromEntries(
    adapters().map((name) => [`docs/${name}.md`, { ts: `__test__/stress/frameworks/${name}.test.ts` }]),
  ),
};

const docs = (await readdir(join(packageRoot, 'docs'))).sort().filter((name) => name.endsWith('.md'));
const elsewhere = ['README.md', 'bench/README.md', 'examples/coding-agent/README.md'];
const pages = [...elsewhere, ...docs.map((name) => `docs/${name}`)];

test.each(pages)('%s: all its code is run by a test', async (name) => {
  const found = blocks(await source(name));
  expect(found.filter(({ kind }) => kind === '')).toEqual([]);

  const kinds = [...new Set(found.map(({ kind }) => kind))].sort();
  const runBy = RUN_BY[name] ?? {};
  // Of another kind than ts, js or sh? Name the test that runs it here.
  expect(Object.keys(runBy).sort()).toEqual(kinds);
  for (const file of Object.values(runBy)) {
    const test = await source(file);
    // Those of all pages find theirs by themselves.
    const byItself = file === COMMANDS || test.includes(`'${name.replace('docs/', '')}'`) || test.includes(name);
    expect(byItself || name === 'README.md', `${file} does not speak of ${name}`).toBe(true);
  }
});

test('no page is named that is not there', () => {
  expect(Object.keys(RUN_BY).filter((name) => !pages.includes(name))).toEqual([]);
});

test('a fence that is not closed hides nothing', async () => {
  for (const name of pages) {
    const fences = (await source(name)).match(/^ *(```|~~~)/gm) ?? [];
    expect(fences.length, name).toBe(2 * blocks(await source(name)).length);
  }
});
