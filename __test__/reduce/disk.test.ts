import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { View } from 'agent-bash';
import { expect } from 'vitest';
import { folder, linuxTest, packageRoot } from '../support/index.ts';

/** Mounts need a namespace, which only root may make here. */
const asRoot = process.getuid?.() === 0 ? linuxTest : linuxTest.skip;

interface Step {
  view: Pick<View, 'id' | 'path' | 'elided'> | null;
  text: string;
  files: string[];
}

asRoot('a full disk: nothing is left out, no part of a file stays, and later outputs are kept again', () => {
  const dir = join(folder(), 'outputs');
  mkdirSync(dir);
  // Each output has about 42 KB.
  const source = `import { readdirSync } from 'node:fs';
    import { OutputStore } from 'agent-bash';
    import { createBashTool } from 'agent-bash/ai';
    const dir = ${JSON.stringify(dir)};
    const outputs = new OutputStore({ dir });
    const tool = createBashTool({ reduce: 'salient', outputs });
    const step = async (name) => {
      const command = \`for n in {1..1400}; do echo "\${name} $n is compiled in $((n * n * 31 % 997)) ms"; done\`;
      let output;
      for await (output of tool.execute({ command }, { toolCallId: name }));
      return { view: output.view, text: tool.toModelOutput({ output }).value, files: readdirSync(dir) };
    };
    const steps = [await step('module'), await step('package')];
    outputs.forget(1);
    steps.push(await step('program'));
    console.log(JSON.stringify(steps));`;
  const script = `set -e; mount -t tmpfs -o size=64k,mode=700 x ${dir}; cd ${packageRoot}; exec "$@"`;
  const node = [process.execPath, '--input-type=module', '--eval', source];
  const argv = ['-m', '--propagation', 'private', 'bash', '-c', script, 'bash', ...node];
  const printed = execFileSync('unshare', argv, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } });
  const [first, full, later] = JSON.parse(printed) as Step[];
  expect([first?.view?.id, first?.files]).toEqual([1, ['1']]);
  expect([full?.view?.elided ?? [], full?.view?.path ?? null, full?.files]).toEqual([[], null, ['1']]);
  expect(full?.text).toContain('1000 is compiled in ');
  expect(full?.text).not.toMatch(/whole in|\[\.\.\. /);
  expect(later?.view?.path).toBe(join(dir, String(later?.view?.id)));
  expect(later?.files).toEqual([String(later?.view?.id)]);
});
