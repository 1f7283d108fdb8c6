/**
 * The frameworks that `__test__/stress/frameworks` drives: `node scripts/frameworks.mjs` installs them, `… test NAME`
 * runs the tests of one. They have a lock of their own, so that no other work installs them.
 */
import { existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, main, npm, root, run } from './process.mjs';
import { again, closing, vitest } from './runners.mjs';
import { setUp } from './setup.mjs';
import { Stamp } from './stamp.mjs';
import { STRESS } from './suites.mjs';

/** The packages of each adapter's framework, by the name of the adapter's directory in `ts/frameworks`. */
export const ADAPTERS = {
  acp: ['@agentclientprotocol/sdk'],
  'claude-agent-sdk': ['@anthropic-ai/claude-agent-sdk'],
  harness: ['@ai-sdk/harness', 'ai'],
  langchain: ['deepagents', 'langchain', '@langchain/core'],
  mastra: ['@mastra/core'],
  'openai-agents': ['@openai/agents'],
  opencode: ['@opencode-ai/plugin'],
  pi: ['@earendil-works/pi-coding-agent'],
};

/** The adapters that there are. */
export const adapters = () => Object.keys(ADAPTERS).filter((name) => existsSync(join(root, 'ts', 'frameworks', name)));

const minutes = 60_000;

const tests = join(STRESS, 'frameworks');
const packages = join(tests, 'packages');
const locked = join(packages, 'package-lock.json');
const installed = join(packages, 'node_modules', '.package-lock.json');
const stamp = new Stamp('frameworks', [join(packages, 'package.json'), locked], [installed]);

/** The majors of Node on which entries are loaded. */
const NODES = [20, 22, 24, 26];

/**
 * What is tested of each adapter, by the lock: its packages with their versions, and the majors of Node that all of
 * them allow.
 */
export function tested() {
  const { packages: all } = JSON.parse(readFileSync(join(root, locked), 'utf8'));
  const lowest = (name) => Number(/\d+/.exec(all[`node_modules/${name}`].engines?.node ?? '')?.[0] ?? 0);
  return adapters().map((adapter) => {
    const names = ADAPTERS[adapter];
    const versions = names.map((name) => ({ name, version: all[`node_modules/${name}`].version }));
    return { adapter, versions, nodes: NODES.filter((major) => names.every((name) => major >= lowest(name))) };
  });
}

/** The Node that all frameworks allow. */
export const node = join(root, packages, 'node_modules', 'node22', 'bin', 'node');

/**
 * Installs the frameworks as their lock has them, if that is not done. A link shows them to the tests, which lie in the
 * package themselves and so reach its entries by name.
 */
export async function installFrameworks() {
  const args = ['ci', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
  const install = () => run(npm, args, { output: 'keep', cwd: join(root, packages), limitMs: 10 * minutes });
  if (!stamp.fresh()) await stamp.around(install);
  const link = join(root, tests, 'node_modules');
  if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync(join('packages', 'node_modules'), link);
}

/** Runs the tests with the frameworks, or those with a word in their path. */
export async function frameworkTests(words, options) {
  await installFrameworks();
  const files = words.length > 0 ? words.map((word) => join(tests, word)) : [`${tests}/`];
  // The present Node is the lowest that this package allows, and is tested with the others.
  const env = { AGENT_BASH_NODE20: process.execPath };
  return await vitest(['--project=stress', ...files], { ...options, node, env });
}

if (isMain(import.meta)) {
  await main(async () => {
    const [command, ...words] = process.argv.slice(2);
    if (command !== 'test') return await installFrameworks();
    await setUp({ full: false });
    const counts = await frameworkTests(words, { limitMs: 30 * minutes });
    console.log(again(counts.failures) + closing(counts));
    if (counts.failed > 0) process.exitCode = 1;
  });
}
