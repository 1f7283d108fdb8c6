import type { PtySession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { hostResult, until } from '../support/index.ts';
import { heard, running, terminal } from './support.ts';

describe('data', () => {
  test('is all that is written, as it is, in whole characters, before the exit', async () => {
    const session = terminal();
    const order: string[] = [];
    const whole = heard(session);
    session.on('data', () => order.push('data'));
    const exits: unknown[] = [];
    const exit = new Promise<void>((resolve) => {
      session.on('exit', (end) => {
        order.push('exit');
        exits.push(end);
        resolve();
      });
    });
    await session.start(
      "printf '\\e[1mbold\\e[0m\\n'; for i in 1 2 3; do printf '\\xf0\\x9f'; sleep 0.01; printf '\\x8e\\x89\\xff'; done; exit 5",
    );
    await exit;
    expect(whole()).toBe('\x1b[1mbold\x1b[0m\r\n🎉\ufffd🎉\ufffd🎉\ufffd');
    expect(exits).toEqual([{ exitCode: 5, signal: null }]);
    expect(order.at(-1)).toBe('exit');
    await session.result();
    expect(exits.length).toBe(1);
  });

  test('is over, and the exit emitted, before the caller has the result', async () => {
    for (const known of [(session: PtySession) => session.result(), (session: PtySession) => session.wait()]) {
      const session = terminal();
      const told: string[] = [];
      session.on('data', () => told.push('data'));
      session.on('exit', () => told.push('exit'));
      await session.start('echo x');
      await known(session);
      expect(told.join()).toMatch(/^(data,)+exit$/);
    }
    const aborted = terminal({ signal: AbortSignal.abort() });
    await aborted.start('true');
    const end = new Promise((resolve) => aborted.on('exit', resolve));
    expect(await end).toEqual({ exitCode: 130, signal: null });
  });

  test('is there for who listens as soon as it was started', async () => {
    const session = await running('printf first; sleep 0.05; printf second');
    const whole = heard(session);
    await session.result();
    expect(whole()).toBe('firstsecond');
  });

  test('of a flood is complete', async () => {
    const session = terminal();
    let bytes = 0;
    let most = 0;
    session.on('data', (text) => {
      bytes += text.length;
      most = Math.max(most, text.length);
    });
    await session.start('seq 300000');
    await session.result();
    expect(bytes).toBe(Array.from({ length: 300_000 }, (_, n) => String(n + 1).length + 2).reduce((sum, n) => sum + n));
    expect(most).toBeLessThanOrEqual(65_536);
  });

  test('waits for the promise of who listens, and holds the program back for it', async () => {
    const session = terminal();
    const takers: (() => void)[] = [];
    const slow = () => new Promise<void>((taken) => takers.push(taken));
    session.on('data', slow);
    // Far more than a batch and what the system keeps.
    await session.start('seq 300000');
    await until(() => takers.length === 1, 'the first text comes');
    expect((await session.wait({ idleMs: 500, timeoutMs: 20_000 })).reason).toBe('idle');
    expect(takers.length).toBe(1);
    takers[0]?.();
    await until(() => takers.length === 2, 'the next text comes');
    session.off('data', slow);
    expect(await session.result()).toMatchObject({ status: 'exited', exitCode: 0 });
    expect(takers.length).toBe(2);
  });

  test('is not waited for when the program is ended', async () => {
    const session = terminal({ graceMs: 100 });
    let told = 0;
    session.on('data', () => {
      told++;
      return new Promise(() => {});
    });
    await session.start('seq 300000; sleep 100');
    await until(() => told === 1, 'the first text comes');
    // More than is kept for who listens is there by then.
    await session.wait({ idleMs: 300, timeoutMs: 20_000 });
    await session.kill();
    expect(await session.result()).toMatchObject({
      status: 'aborted',
      notes: ['the listeners of the terminal did not take all output in time'],
    });
    expect(told).toBe(1);
  });

  test('is not told to who has gone, nor an error of one to the other', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    const session = terminal();
    let gone = '';
    const leaves = (text: string) => {
      gone += text;
      session.off('data', leaves);
    };
    session.on('data', leaves);
    session.on('data', () => {
      throw new Error('of a listener');
    });
    const whole = heard(session);
    await session.start('stty -echo; printf one; read -r; printf two');
    await until(() => gone !== '');
    session.write('\n');
    await session.result();
    process.off('warning', warned);
    expect(whole()).toBe('onetwo');
    expect(gone).toBe('one');
    expect(warnings.map(({ message }) => message)).toEqual(['a listener of a PtySession failed: of a listener']);
  });

  test('a blocked event loop loses nothing', async () => {
    const text = await hostResult<string>(`
      import { PtySession } from 'agent-bash';
      const session = new PtySession();
      let text = '';
      session.on('data', (more) => { text += more; const until = performance.now() + 20; while (performance.now() < until); });
      await session.start('for i in $(seq 30); do echo $i; done');
      await new Promise((resolve) => session.on('exit', resolve));
      console.log(JSON.stringify(text));
    `);
    expect(text).toBe(Array.from({ length: 30 }, (_, n) => `${n + 1}\r\n`).join(''));
  });
});

describe('questions of a program', () => {
  const ask = 'stty raw -echo min 0 time 20; printf "\\e[6n"; head -c 6 | od -An -c | tr -d " \\n"; stty sane';

  test('are answered', async () => {
    expect((await (await running(ask)).result()).stdout).toContain('033[1;1R');
  });

  test('are left to who draws, and answered once', async () => {
    const session = terminal();
    session.on('data', (text) => {
      if (text.includes('\x1b[6n')) void session.write('\x1b[7;7R');
    });
    await session.start(`${ask}; stty raw -echo min 0 time 5; cat | od -An -c | tr -d " \\n"`);
    const { stdout } = await session.result();
    expect(stdout).toContain('033[7;7R');
    expect(stdout).not.toContain('[1;1R');
  });

  test('are answered after a while where who listens does not', async () => {
    const session = terminal();
    session.on('data', () => {});
    await session.start(ask);
    expect((await session.result()).stdout).toContain('033[1;1R');
  });
});
