import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { Ledger } from '../../../ledger/support.ts';
import { host, packageRoot, until } from '../../../support/index.ts';

describe('the ledger survives', () => {
  test('its host, killed at any moment of many quick commands: each entry is whole', async () => {
    const ledger = new Ledger();
    let commands = 0;
    for (const after of [0, 3, 7, 15, 40]) {
      const killed = host(
        `let at = 0;
         console.log('ready');
         for (;;) await bash('echo ' + at++ + ' --password hunter2', { ledger: true, warm: at % 2 === 0 });`,
        { env: ledger.env },
      );
      await killed.says(/ready/);
      await new Promise((resolve) => setTimeout(resolve, 100 + after));
      killed.process.kill('SIGKILL');
      await killed.ended();
      await until(async () => !(await ledger.read()).some(({ state }) => state === 'running'), 'every end');
      const found = (await ledger.read()).filter((entry) => entry.host.pid === killed.pid);
      commands += found.length;
      // The last one may be lost or aborted; its command may not have been read yet.
      for (const { state, command } of found.slice(1)) {
        expect(state).toBe('exited');
        expect(command).toMatch(/^echo \d+ --password \[redacted\]$/);
      }
    }
    expect(commands).toBeGreaterThan(5);
    expect(ledger.text()).not.toContain('hunter2');
  });

  test('1,000 commands at once, each with one entry', async () => {
    const ledger = new Ledger();
    const results = await Promise.all(
      Array.from({ length: 1000 }, (_, at) => ledger.run(`exit $((${at} % 256))`, { timeoutMs: 80_000 })),
    );
    const found = new Map((await ledger.read()).map((entry) => [entry.runId, entry]));
    expect(found.size).toBe(1000);
    for (const [at, { runId, exitCode }] of results.entries()) {
      expect(exitCode).toBe(at % 256);
      expect(found.get(runId)).toMatchObject({ state: 'exited', exitCode, command: `exit $((${at} % 256))` });
    }
  });

  test('eight hosts at once with 2,000 entries each, two of them killed: every other entry is whole', async () => {
    const ledger = new Ledger();
    const source = `
      for (let n = 0; n < 2_000; n++) await bash('echo ' + n, { ledger: true, actor: { agent: process.env.NAME } });
      console.log('done');`;
    const hosts = Array.from({ length: 8 }, (_, at) => host(source, { env: { ...ledger.env, NAME: `h${at}` } }));
    await until(async () => (await ledger.read()).length > 2_000, 'some entries', 300_000);
    for (const killed of hosts.slice(0, 2)) killed.process.kill('SIGKILL');
    for (const other of hosts.slice(2)) expect((await other.ended()).code).toBe(0);
    await until(async () => !(await ledger.read()).some(({ state }) => state === 'running'), 'every end');
    const found = await ledger.read();
    for (let at = 2; at < 8; at++) {
      const own = found.filter(({ actor }) => actor?.agent === `h${at}`);
      expect(own.map(({ command }) => command)).toEqual(Array.from({ length: 2_000 }, (_, n) => `echo ${1_999 - n}`));
      expect(own.every(({ state, exitCode }) => state === 'exited' && exitCode === 0)).toBe(true);
    }
    // The last command of a killed host may have ended in any way, and all before it have exited.
    for (let at = 0; at < 2; at++) {
      const [, ...others] = found.filter(({ actor }) => actor?.agent === `h${at}`);
      expect(others.length).toBeGreaterThan(10);
      expect(others.every(({ state }) => state === 'exited')).toBe(true);
    }
    const { stderr } = await bash(`node ${join(packageRoot, 'dist/cli.mjs')} log`, { env: ledger.env });
    expect(stderr).toBe('');
  }, 900_000);
});
