import { describe, expect, test } from 'vitest';
import { timed } from '../support/index.ts';
import { running } from './support.ts';

describe('wait', () => {
  test('for the end', async () => {
    const session = await running('sleep 0.1; exit 4');
    expect(await session.wait()).toEqual({ reason: 'exit', exitCode: 4 });
    expect(await session.wait({ idleMs: 10_000, timeoutMs: 10_000 })).toEqual({ reason: 'exit', exitCode: 4 });
    expect(await session.wait({ pattern: 'not there' })).toEqual({ reason: 'exit', exitCode: 4 });
  });

  test('for an end by a signal', async () => {
    const session = await running('kill -KILL $$');
    expect(await session.wait()).toEqual({ reason: 'exit', exitCode: 137 });
  });

  test('for text, in the order of the output, each once', async () => {
    const session = await running('echo one; echo two; echo one; sleep 100');
    expect((await session.wait({ pattern: 'one' })).reason).toBe('pattern');
    expect((await session.wait({ pattern: 'one' })).reason).toBe('pattern');
    expect(await session.wait({ pattern: 'one', timeoutMs: 300 })).toEqual({ reason: 'timeout', exitCode: null });
    expect((await session.wait({ pattern: 'two', timeoutMs: 300 })).reason).toBe('timeout');
  });

  test('for text that has colours, and a line end before and after it', async () => {
    const session = await running("printf 'a\\n\\e[1mbo'; sleep 0.05; printf '\\e[32mld\\e[0m\\nb'; sleep 100");
    expect((await session.wait({ pattern: /^BOLD$/im, timeoutMs: 20_000 })).reason).toBe('pattern');
    expect((await session.wait({ pattern: /\nb$/g, timeoutMs: 20_000 })).reason).toBe('pattern');
  });

  test('for text counts output before the end', async () => {
    const session = await running('echo said; exit 1');
    await session.result();
    expect(await session.wait({ pattern: 'said' })).toEqual({ reason: 'pattern', exitCode: 1 });
  });

  test('for quiet, from the call on', async () => {
    const session = await running('while :; do echo x; read -t 0.02; done');
    expect((await session.wait({ idleMs: 1_000, timeoutMs: 1_500 })).reason).toBe('timeout');
    const quiet = await running('echo x; sleep 100');
    await quiet.wait({ pattern: 'x' });
    expect((await quiet.wait({ idleMs: 100 })).reason).toBe('idle');
    const [second, elapsed] = await timed(() => quiet.wait({ idleMs: 300 }));
    expect(second.reason).toBe('idle');
    expect(elapsed).toBeGreaterThan(290);
  });

  test('with no time at all sees the present output', async () => {
    const session = await running('echo said; sleep 100');
    await session.wait({ pattern: 'sai' });
    expect((await session.wait({ pattern: 'd', timeoutMs: 0 })).reason).toBe('pattern');
    expect((await session.wait({ timeoutMs: 0 })).reason).toBe('timeout');
  });

  test('with a pattern that takes for ever ends at its limit', async () => {
    const session = await running(`echo ${'a'.repeat(40)}b; sleep 100`);
    await session.wait({ pattern: 'aa' });
    expect((await session.wait({ pattern: '(a+)+$', timeoutMs: 500 })).reason).toBe('timeout');
    expect(session.screen().lines.length).toBe(24);
  }, 30_000);

  test('several at once', async () => {
    const session = await running('sleep 0.1; echo one; sleep 0.1; echo two');
    const reasons = await Promise.all([
      session.wait({ pattern: 'one' }),
      session.wait({ pattern: 'two' }),
      session.wait(),
      session.wait({ timeoutMs: 1 }),
    ]);
    expect(reasons.map(({ reason }) => reason)).toEqual(['pattern', 'pattern', 'exit', 'timeout']);
  });
});
