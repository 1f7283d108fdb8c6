import { randomBytes } from 'node:crypto';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { settles, testBut } from '../support/index.ts';

const cksum = async (stdin: string | Uint8Array) => (await bash('cksum', { stdin })).stdout;

describe('stdin', () => {
  test.each([
    ['a string', 'one\ntwo', 'one\ntwo'],
    ['Unicode', 'é — 😀 漢\n', 'é — 😀 漢\n'],
    ['bytes', Buffer.from('bytes\n'), 'bytes\n'],
    ['a view of a larger buffer', new Uint8Array(Buffer.from('xxmiddlexx')).subarray(2, 8), 'middle'],
    ['an empty string', '', ''],
    ['an empty array', new Uint8Array(), ''],
  ])('%s', async (_, stdin, stdout) => {
    expect((await bash('cat', { stdin })).stdout).toBe(stdout);
  });

  test('bytes that are no text arrive as they are', async () => {
    const stdin = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const { stdout } = await bash('od -An -v -tx1 | tr -d " \\n"', { stdin });
    expect(stdout).toBe(Buffer.from(stdin).toString('hex'));
  });

  test('a lone surrogate is replaced', async () => {
    expect((await bash('cat', { stdin: 'a\ud800b' })).stdout).toBe('a\uFFFDb');
  });

  test('is closed at its end', async () => {
    expect((await bash('read -r one; read -r two; echo "$one:$two:$?"', { stdin: 'x\n' })).stdout).toBe('x::1\n');
  });

  test('is read by the children of the shell in turn', async () => {
    expect((await bash('read -r one; cat; echo "$one"', { stdin: 'first\nsecond\n' })).stdout).toBe('second\nfirst\n');
  });

  test.each([65_536, 65_537, 1 << 20, 24 << 20])('of %i bytes arrives whole', async (length) => {
    const stdin = randomBytes(length);
    const { stdout } = await bash('wc -c | tr -d " "; true', { stdin });
    expect(stdout).toBe(`${length}\n`);
  });

  test('a large one comes back the same', async () => {
    const stdin = randomBytes(3 << 20);
    const { stdout } = await bash('base64 -w 0 | cksum', { stdin });
    expect(stdout).toBe(await cksum(stdin.toString('base64')));
  });

  testBut(['warm'], 'what waits for a shell first calls later')(
    'that changes after the call is taken as it was',
    async () => {
      const stdin = Buffer.alloc(1 << 20, 'a');
      const promise = bash("tr -d a | wc -c | tr -d ' '", { stdin });
      stdin.fill('b');
      expect((await promise).stdout).toBe('0\n');
    },
  );

  test.each([
    ['not read at all', 'exit 4', 4],
    ['closed at once', 'exec <&-; sleep .1; exit 4', 4],
    ['read in part', 'head -c 10 >/dev/null; exit 4', 4],
    ['read by a child that is killed', "bash -c 'read -n 1; kill -9 $$'; exit 4", 4],
  ])('a large one that is %s', async (_, command, exitCode) => {
    const result = await settles(bash(command, { stdin: Buffer.alloc(8 << 20, 'x') }));
    expect(result).toMatchObject({ status: 'exited', exitCode });
  });

  test('both ways at once', async () => {
    const stdin = randomBytes(4 << 20).toString('hex');
    let length = 0;
    const result = await settles(
      bash('tee /dev/stderr', {
        stdin,
        spill: false,
        onOutput: ({ text }) => {
          length += text.length;
        },
      }),
    );
    expect(result.exitCode).toBe(0);
    expect(length).toBe(2 * stdin.length);
  });

  test('a command that is not blocked still ends at its limit', async () => {
    const result = await settles(bash('sleep 20', { stdin: Buffer.alloc(8 << 20), timeoutMs: 300 }));
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124 });
  });

  test('together with a long command', async () => {
    const { stdout } = await bash(`: '${'x'.repeat(140_000)}'\ncat; echo end`, { stdin: 'input\n' });
    expect(stdout).toBe('input\nend\n');
  });

  test('of many at once does not mix', async () => {
    const all = await Promise.all(Array.from({ length: 30 }, (_, n) => bash('cat', { stdin: `${n}`.repeat(5000) })));
    expect(all.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 30 }, (_, n) => `${n}`.repeat(5000)));
  });

  test('is not that of the host', async () => {
    expect((await bash('readlink /proc/self/fd/0 2>/dev/null || echo /dev/null')).stdout).toBe('/dev/null\n');
  });
});
