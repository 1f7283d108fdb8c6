import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { BackgroundRegistry } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canMount, folder, host, linuxTest, packageRoot, testNeeding, until } from '../support/index.ts';
import { Ledger } from './support.ts';

/** The parent of a process: the shim of a command, if it is its shell. */
const parentOf = (pid: number) => Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);

describe('the ledger survives', () => {
  test('its host, killed while a command runs: the shim writes the end', async () => {
    const ledger = new Ledger();
    const killed = host(`console.log('ready'); await bash('sleep 60', { ledger: true });`, { env: ledger.env });
    await killed.says(/ready/);
    await until(async () => (await ledger.read())[0]?.state === 'running', 'the start');
    killed.process.kill('SIGKILL');
    await until(async () => (await ledger.last()).state !== 'running', 'the end');
    expect(await ledger.last()).toMatchObject({ state: 'aborted', exitCode: 130, host: { pid: killed.pid } });
  });

  linuxTest('a shim, killed while its command runs: the entry is lost', async () => {
    const ledger = new Ledger();
    const running = ledger.run('echo $$; sleep 60', {
      onOutput: ({ text }) => {
        process.kill(parentOf(Number(text)), 'SIGKILL');
      },
    });
    const result = await running;
    expect(result.status).toBe('signaled');
    expect(await ledger.of(result)).toMatchObject({ state: 'lost', exitCode: null, signal: null, endedAt: null });
    expect(await ledger.read({ failed: true })).toHaveLength(1);
  });

  linuxTest('a shim of a task, killed: the entry is lost', async () => {
    const ledger = new Ledger();
    const registry = new BackgroundRegistry();
    onTestFinished(() => registry.close());
    const { pid, id } = await registry.start('sleep 60', { ledger: true });
    process.kill(parentOf(pid), 'SIGKILL');
    await until(async () => (await ledger.last()).state === 'lost', 'its loss');
    expect(await ledger.last()).toMatchObject({ taskId: id, exitCode: null, signal: null });
  });

  testNeeding(
    'mounts in a namespace',
    canMount('-m'),
    'linux',
  )('a full disk, which costs entries and no command, and is a note once', async () => {
    const place = folder();
    const source = `
      import { bash, readLedger } from 'agent-bash';
      import { writeFileSync, rmSync } from 'node:fs';
      const run = (at) => bash('echo ' + at, { ledger: true });
      const all = [];
      for (let at = 0; at < 5; at++) all.push(await run(at));
      try { for (let n = 1 << 16; n > 0; n >>= 1) for (;;) writeFileSync('${place}/fill', 'x'.repeat(n), { flag: 'a' }); } catch {}
      try { for (;;) writeFileSync('${place}/fill', 'x', { flag: 'a' }); } catch {}
      for (let at = 5; at < 20; at++) all.push(await run(at));
      rmSync('${place}/fill');
      for (let at = 20; at < 25; at++) all.push(await run(at));
      const found = [];
      for await (const { command, state } of readLedger()) found.push(command + ' ' + state);
      console.log(JSON.stringify({ found, stdout: all.map(({ stdout }) => stdout), notes: all.flatMap(({ notes }) => notes) }));`;
    const shell = `mount -t tmpfs -o size=64k none '${place}' && exec node --input-type=module -e "$SOURCE"`;
    const stdout = execFileSync('unshare', ['-m', 'bash', '-c', shell], {
      encoding: 'utf8',
      cwd: packageRoot,
      env: { ...process.env, SOURCE: source, XDG_STATE_HOME: place, AGENT_BASH_LEDGER: '', NODE_OPTIONS: '' },
    });
    const said = JSON.parse(stdout) as { found: string[]; stdout: string[]; notes: string[] };
    expect(said.stdout).toEqual(Array.from({ length: 25 }, (_, at) => `${at}\n`));
    expect(said.notes).toEqual([expect.stringContaining('the ledger cannot be written')]);
    const exited = said.found.filter((entry) => entry.endsWith(' exited'));
    for (const at of [0, 1, 2, 3, 4, 20, 21, 22, 23, 24]) expect(exited).toContain(`echo ${at} exited`);
  });
});
