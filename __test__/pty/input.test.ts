import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { childrenOf, folder, rejection, until } from '../support/index.ts';
import { running, terminal } from './support.ts';

describe('typed text', () => {
  test('is what a program reads', async () => {
    const session = await running('read -p "Name: " name; echo "hello $name"');
    await session.wait({ pattern: 'Name: $' });
    await session.write('Bob\r');
    expect((await session.result()).stdout).toBe('Name: Bob\nhello Bob\n');
  });

  test('arrives whole and in order, however long, where whole lines are read', async () => {
    const cwd = folder();
    const file = join(cwd, 'out');
    const session = await running('cat > out', { cwd });
    const lines = Array.from({ length: 30_000 }, (_, number) => `line ${number} of what is typed\n`).join('');
    const long = `${'0123456789'.repeat(20_000)}\n`;
    const done = [
      session.write(lines),
      session.write(long),
      session.write(Buffer.from('ende\n')),
      session.write('\x04'),
    ];
    await Promise.all(done);
    expect((await session.result()).exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(`${lines}${long}ende\n`);
  });

  test('arrives whole where each key is read, to a program that is slow to take it', async () => {
    const bytes = Buffer.alloc(600_000, 0).map((_, at) => (at * 7 + (at >> 8)) % 256);
    const session = await running(`stty raw -echo; echo go; sleep 0.2; head -c ${bytes.length} | sha256sum`);
    await session.wait({ pattern: 'go' });
    await session.write(bytes);
    expect((await session.result()).stdout).toContain(createHash('sha256').update(bytes).digest('hex'));
  });

  test('can exceed what a program reads, while its own output is not read', async () => {
    // The kernel drops echoes that are not read in time.
    const session = await running('stty -echo; echo go; cat; echo end');
    await session.wait({ pattern: 'go' });
    const text = `${'x'.repeat(99)}\n`.repeat(5_000);
    await session.write(text);
    await session.write('\x04');
    const result = await session.result();
    expect(result.truncation.stdout?.totalBytes).toBe(text.length + 'go\nend\n'.length);
  });

  test.each([
    ['\x03', 'SIGINT', 130],
    ['\x1c', 'SIGQUIT', 131],
  ])('%j is %s', async (key, _, code) => {
    const session = terminal();
    const { pid } = await session.start('ulimit -c 0; trap : INT; sleep 100; echo code $?');
    await until(() => childrenOf(pid).some(({ argv }) => argv[0] === 'sleep'));
    await session.write(key);
    expect((await session.result()).stdout).toContain(`code ${code}`);
  });

  test('Ctrl-Z stops a job of an interactive shell, and `fg` continues it', async () => {
    const session = await running('PS1="$ " bash --norc --noprofile -i');
    await session.wait({ pattern: '\\$ $' });
    await session.write('sleep 100\r');
    await session.wait({ pattern: 'sleep 100' });
    await session.wait({ idleMs: 300 });
    await session.write('\x1a');
    expect((await session.wait({ pattern: 'Stopped', timeoutMs: 20_000 })).reason).toBe('pattern');
    await session.write('fg\r');
    await session.wait({ pattern: 'sleep 100' });
    await session.wait({ idleMs: 300 });
    await session.write('\x03');
    await session.wait({ pattern: '\\$ $' });
    await session.write('exit 7\r');
    expect((await session.result()).exitCode).toBe(7);
  });

  test('has no reader after the end', async () => {
    const session = await running('true');
    await session.result();
    expect((await rejection(() => session.write('x'))).code).toBe('ERR_BASH_CLOSED');
  });

  test('and a program’s unread input is reported', async () => {
    const session = await running('stty raw -echo; echo go; sleep 0.3');
    await session.wait({ pattern: 'go' });
    expect((await rejection(() => session.write('x'.repeat(1_000_000)))).code).toBe('ERR_BASH_CLOSED');
  });
});
