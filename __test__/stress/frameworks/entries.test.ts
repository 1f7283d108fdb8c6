import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { tested } from '../../../scripts/frameworks.mjs';

const here = import.meta.dirname;

/** The program of a major of Node. The one that runs all tests is a later one. */
const nodeOf = (major: number) =>
  major === 20 ? (process.env.AGENT_BASH_NODE20 ?? null) : join(here, 'node_modules', `node${major}`, 'bin', 'node');

/** Runs a module in another Node, and returns what it prints. */
async function printedBy(node: string, source: string): Promise<string> {
  const { stdout } = await promisify(execFile)(node, ['--input-type=module', '--eval', source], { cwd: here });
  return stdout.trim();
}

describe.each(tested())('agent-bash/$adapter', ({ adapter, versions, nodes }) => {
  it.each(nodes)('is the same for import and require on Node %i, beside its framework', async (major) => {
    const node = nodeOf(major);
    if (node === null) return expect(major, 'scripts/frameworks.mjs names Node 20').toBe(0);
    const names = versions.map(({ name }) => name);
    const source = `
      import { createRequire } from 'node:module';
      const entry = 'agent-bash/${adapter}';
      const [imported, required] = [await import(entry), createRequire('${here}/x.js')(entry)];
      if (!process.version.startsWith('v${major}.')) throw new Error(process.version);
      for (const name of ${JSON.stringify(names)}) await import(name);
      console.log(JSON.stringify([Object.keys(imported).sort(), Object.keys(required).sort()]));`;
    const [imported, required] = JSON.parse(await printedBy(node, source));
    expect(imported.length).toBeGreaterThan(0);
    expect(required).toEqual(imported);
  });

  it('loads nothing of its framework, and little beside agent-bash/ai', async () => {
    const source = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
      await import('agent-bash/ai');
      const start = performance.now();
      await import('agent-bash/${adapter}');
      console.log(JSON.stringify([performance.now() - start, loaded]));`;
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const [time, loaded] = JSON.parse(await printedBy(process.execPath, source)) as [number, string[]];
      expect(loaded.filter((url) => url.includes('/node_modules/'))).toEqual([]);
      times.push(time);
    }
    expect(Math.min(...times), `ms: ${times}`).toBeLessThan(10);
  });
});
