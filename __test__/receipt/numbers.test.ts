import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Receipt } from 'agent-bash';
import { expect } from 'vitest';
import { folder, linuxTest, moduleOf, packageRoot, way } from '../support/index.ts';

/** Only root may make a namespace of pids, and choose numbers in it. */
const asRoot = process.getuid?.() === 0 ? linuxTest : linuxTest.skip;

const FILES = 20;

asRoot('Linux: programs that have the same number one after another', () => {
  const cwd = join(folder(), 'work');
  mkdirSync(cwd);
  for (let at = 1; at <= FILES; at++) writeFileSync(join(cwd, `f${at}`), 'before\n');
  // Each program has the number behind the given one, since the last program is gone.
  const command = `for n in {1..${FILES}}; do
    echo 3000 >/proc/sys/kernel/ns_last_pid; bash -c 'echo $$; echo after >>f'$n; done`;
  const source = `import { bash } from '${way ? moduleOf(way) : 'agent-bash'}';
    const options = { cwd: ${JSON.stringify(cwd)}, safety: 'off', confine: 'off', receipt: 'exact' };
    const { stdout, receipt } = await bash(${JSON.stringify(command)}, options);
    console.log(JSON.stringify({ stdout, receipt }));`;
  const node = [process.execPath, '--input-type=module', '--eval', source];
  const argv = ['--pid', '--fork', '--mount-proc', '--kill-child', 'bash', '-c', `cd ${packageRoot}; "$@"`, 'bash'];
  const printed = execFileSync('unshare', [...argv, ...node], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const { stdout, receipt } = JSON.parse(printed) as { stdout: string; receipt: Receipt };
  expect(stdout).toBe('3001\n'.repeat(FILES));
  expect(receipt.state).toBe('known');
  expect(receipt.modified).toHaveLength(FILES);
});
