import { BackgroundRegistry, BashSession } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Ledger } from './support.ts';

const SECRET = 'hunter2hunter2';

describe('a secret is not in the files of the ledger', () => {
  test.each([
    ['warm', {}],
    ['cold', { warm: false }],
    ['with a receipt', { receipt: 'watch' }],
    ['with a limit', { limits: { openFiles: 100 } }],
  ] as const)('of a command that starts %s', async (_, options) => {
    const ledger = new Ledger();
    for (const command of [
      `: --password ${SECRET}`,
      `X_TOKEN=${SECRET} true`,
      `: curl -H 'Authorization: Bearer ${SECRET}'`,
      `: https://me:${SECRET}@example.com`,
      `bash -c ': --token ${SECRET}'`,
      `cat > /dev/null <<EOF\nDB_PASSWORD=${SECRET}\nEOF`,
      `sleep 0.02; : --token ${SECRET}`,
    ]) {
      const result = await ledger.run(command, { safety: 'off', ...options });
      const entry = await ledger.of(result);
      expect(entry).toMatchObject({ redacted: true, state: 'exited' });
      expect(entry.command).toBe(command.replace(SECRET, '[redacted]'));
    }
    expect(ledger.text()).not.toContain(SECRET);
  });

  test('of tasks, sessions, refusals and prefixes', async () => {
    const ledger = new Ledger();
    const registry = new BackgroundRegistry();
    const session = new BashSession({ ledger: true });
    onTestFinished(async () => {
      await session.close();
      await registry.close();
    });
    await registry.wait((await registry.start(`: --password ${SECRET}`, { ledger: true })).id);
    await session.run(`: --password ${SECRET}`);
    await ledger.run(`rm -rf / --password ${SECRET}`).catch(() => {});
    await ledger.run('true', { prefix: `X_TOKEN=${SECRET}` });
    expect(await ledger.read()).toHaveLength(4);
    expect((await ledger.read()).every(({ redacted }) => redacted)).toBe(true);
    expect(ledger.text()).not.toContain(SECRET);
  });

  test('and neither is output or the environment', async () => {
    const ledger = new Ledger();
    await ledger.run('echo "$VALUE out"; echo err >&2', { env: { VALUE: 'in-the-environment' } });
    expect(ledger.text()).not.toMatch(/in-the-environment|out\\n/);
    expect((await ledger.last()).redacted).toBe(false);
  });
});

describe('a long command', () => {
  test.each([1_000, 40_000, 70_000, 1_000_000])(
    'of %i characters is cut at a character, without its secrets',
    async (length) => {
      const ledger = new Ledger();
      const command = `: --password ${SECRET} ${'é '.repeat(length / 2)}`;
      const result = await ledger.run(command);
      const entry = await ledger.of(result);
      expect(entry.redacted).toBe(true);
      expect(command.replace(SECRET, '[redacted]').startsWith(entry.command)).toBe(true);
      expect(entry.command.length).toBeGreaterThan(Math.min(length, 10_000));
      for (const line of ledger.text().split('\n')) expect(Buffer.byteLength(line)).toBeLessThan(32 * 1024);
      expect(ledger.text()).not.toContain(SECRET);
    },
  );
});
