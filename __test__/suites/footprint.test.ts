import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { linuxTest, packageRoot } from '../support/index.ts';

/** Measures a run that does `actions`, and returns what is wrong with its footprint. */
function wrongAfter(actions: string, most = '{}'): { wrong: string[]; directory: string } {
  const script = `
    import { spawn } from 'node:child_process';
    import { once } from 'node:events';
    import { mkdirSync, writeFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { Footprint } from './scripts/footprint.mjs';
    const footprint = new Footprint({ settledMs: 200, everyMs: 10, most: ${most} });
    const env = { ...process.env, ...footprint.env };
    ${actions}
    console.log(JSON.stringify({ wrong: await footprint.end(), directory: env.TMPDIR }));`;
  const argv = ['--input-type=module', '-e', script];
  return JSON.parse(execFileSync(process.execPath, argv, { cwd: packageRoot, encoding: 'utf8' }));
}

linuxTest('a run that cleans up has nothing wrong with it, and its directory is removed', () => {
  const { wrong, directory } = wrongAfter(`await once(spawn('true', { env }), 'exit');`);
  expect(wrong).toEqual([]);
  expect(existsSync(directory)).toBe(false);
});

linuxTest('a process that is left behind is named and killed, also one without a parent', () => {
  const { wrong } = wrongAfter(`
    await once(spawn('sh', ['-c', 'setsid sleep 345 & exit'], { env, stdio: 'ignore' }), 'exit');`);
  expect(wrong).toEqual([expect.stringMatching(/^left behind: process \d+: (setsid )?sleep 345 in \//)]);
  const pid = Number(/process (\d+)/.exec(wrong[0] ?? '')?.[1]);
  expect(existsSync(`/proc/${pid}/cwd/.`)).toBe(false);
});

linuxTest('a file that is left behind is named', () => {
  const { wrong } = wrongAfter(`writeFileSync(env.TMPDIR + '/some-file', '');`);
  expect(wrong).toEqual(['left behind: file $TMPDIR/some-file']);
});

linuxTest('a leftover directory is named with its files', () => {
  const { wrong } = wrongAfter(`
    mkdirSync(env.TMPDIR + '/one/two', { recursive: true });
    writeFileSync(env.TMPDIR + '/one/two/three', '');
    mkdirSync(env.TMPDIR + '/empty/four', { recursive: true });`);
  expect(wrong.sort()).toEqual([
    'left behind: file $TMPDIR/empty with four',
    'left behind: file $TMPDIR/one with two/three',
  ]);
});

linuxTest('saved outputs and the state of programs may stay', () => {
  const { wrong } = wrongAfter(`
    writeFileSync(env.TMPDIR + '/agent-bash-' + process.getuid() + '/output', '');
    mkdirSync(env.XDG_STATE_HOME + '/agent-bash', { recursive: true });`);
  expect(wrong).toEqual([]);
});

linuxTest('more processes and memory at once than a run may have', () => {
  const { wrong } = wrongAfter(
    `const children = [1, 2, 3].map(() => spawn('sleep', ['345'], { env }));
     while (footprint.peak.processes < 3) await sleep(10);
     for (const child of children) { child.kill(); await once(child, 'exit'); }`,
    '{ processes: 2, memory: 1024 }',
  );
  expect(wrong).toEqual([
    expect.stringMatching(/^\d processes at once, more than 2$/),
    expect.stringMatching(/^\d+ MiB at once, more than 0$/),
  ]);
});
