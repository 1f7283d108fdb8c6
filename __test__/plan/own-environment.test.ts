import { expect, test } from 'vitest';
import { hostResult } from '../support/index.ts';

/** Runs code in a host, with `seen()`: the `OWN_A` of a command, an analysis and a task, and whether each sees it. */
function inHost<T>(code: string): Promise<T> {
  return hostResult<T>(`
    import { analyze, BackgroundRegistry } from 'agent-bash';
    const registry = new BackgroundRegistry();
    async function seen() {
      const { stdout } = await bash('echo "\${OWN_A-none}"');
      const task = await registry.start('echo "\${OWN_A-none}"');
      const { output } = await registry.wait(task.id);
      const { argv } = analyze('echo "$OWN_A"').commands[0];
      return [stdout.trim(), output.split('\\n')[0], argv[1].text];
    }
    ${code}
    await registry.close();
  `);
}

test("a command sees the host's environment as it is at its call", async () => {
  const seen = await inHost(`
    const all = [];
    process.env.OWN_A = '1';
    all.push(await seen());
    process.env.OWN_A = 'zwei ü';
    all.push(await seen());
    delete process.env.OWN_A;
    all.push((await seen()).slice(0, 2));
    console.log(JSON.stringify(all));
  `);
  expect(seen).toEqual([
    ['1', '1', '1'],
    ['zwei ü', 'zwei ü', 'zwei ü'],
    ['none', 'none'],
  ]);
});

test('a replaced `process.env` counts, and so does the one that is put back', async () => {
  const seen = await inHost(`
    const own = process.env;
    process.env.OWN_A = 'own';
    const all = [await seen()];
    process.env = { ...own, OWN_A: 'replaced' };
    all.push(await seen());
    process.env = new Proxy(own, { get: (env, name) => (name === 'OWN_A' ? 'proxied' : env[name]) });
    all.push(await seen());
    process.env = own;
    all.push(await seen(), Object.keys(own).filter((name) => name.includes('PROBE')));
    console.log(JSON.stringify(all));
  `);
  expect(seen).toEqual([
    ['own', 'own', 'own'],
    ['replaced', 'replaced', 'replaced'],
    ['proxied', 'proxied', 'proxied'],
    ['own', 'own', 'own'],
    [],
  ]);
});

test('a worker has an environment of its own', async () => {
  const seen = await hostResult(`
    import { Worker } from 'node:worker_threads';
    import { once } from 'node:events';
    process.env.OWN_A = 'main';
    const { stdout } = await bash('echo $OWN_A');
    const code = \`
      const { parentPort, workerData } = require('node:worker_threads');
      process.env.OWN_A = 'worker';
      const { bash } = require(workerData);
      bash('echo $OWN_A').then(({ stdout }) => parentPort.postMessage(stdout));
    \`;
    const { createRequire } = await import('node:module');
    const main = createRequire(import.meta.url).resolve('agent-bash');
    const worker = new Worker(code, { eval: true, workerData: main, execArgv: [] });
    const [told] = await once(worker, 'message');
    const after = await bash('echo $OWN_A');
    console.log(JSON.stringify([stdout, told, after.stdout]));
  `);
  expect(seen).toEqual(['main\n', 'worker\n', 'main\n']);
});
