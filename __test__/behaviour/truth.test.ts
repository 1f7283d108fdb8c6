import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bash, type Truncate } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { drip, everyByte, folder, HANG, hasLoneSurrogate, host, seq, settles, timed, until } from '../support/index.ts';

test('`seq 2000000` with a slow `onOutput`: every line, in order', async () => {
  const chunks: string[] = [];
  const result = await bash('seq 2000000', {
    spill: false,
    timeoutMs: 80_000,
    onOutput: async ({ text }) => {
      chunks.push(text);
      if (chunks.length % 10 === 0) await sleep(5);
    },
  });
  expect(result).toMatchObject({ status: 'exited', exitCode: 0 });
  expect(chunks.join('') === seq(1, 2_000_000)).toBe(true);
  expect(result.stdout.startsWith(seq(1_998_001, 2_000_000))).toBe(true);
});

describe('`echo BEFORE; sleep 81`, limit 1 s: BEFORE, timed-out, 124', () => {
  test.each([
    ['stdout', 'echo BEFORE; sleep 81', { stdout: 'BEFORE\n', stderr: '' }],
    ['stderr', 'echo BEFORE >&2; sleep 81', { stdout: '', stderr: 'BEFORE\n' }],
    ['without a line end', 'printf BEFORE; sleep 81', { stdout: 'BEFORE', stderr: '' }],
    ['from a child', "bash -c 'echo BEFORE; sleep 81'; true", { stdout: 'BEFORE\n', stderr: '' }],
  ])('%s', async (_, command, streams) => {
    const [result, elapsed] = await timed(() => bash(command, { timeoutMs: 1_000 }));
    expect(result).toMatchObject({ ...streams, status: 'timed-out', exitCode: 124, timeoutMs: 1_000 });
    expect(result.durationMs).toBeGreaterThanOrEqual(950);
    expect(elapsed).toBeLessThan(3_000 + HANG);
  });

  test('and the same at an abort', async () => {
    const controller = new AbortController();
    const result = await settles(
      bash('echo BEFORE; printf part; sleep 81', {
        signal: controller.signal,
        onOutput: () => controller.abort(),
      }),
    );
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, signal: 'SIGTERM' });
    expect(result.stdout).toMatch(/^BEFORE\n/);
  });
});

describe('a survivor writes after the host is gone: it is not killed by it', () => {
  test.each([
    ['the builtin `echo`', 'echo late; echo late >&2'],
    ['more than a pipe holds', 'head -c 300000 /dev/zero | tr "\\0" x; head -c 300000 /dev/zero | tr "\\0" x >&2'],
    [
      'a program of its own',
      "node -e \"process.stdout.write('x'.repeat(200000)); process.stderr.write('x'.repeat(200000))\"",
    ],
  ])('%s', async (_, write) => {
    const cwd = folder();
    const survivor = `(until [ -e go ]; do sleep .05; done; set -e; ${write}; echo "$?" > survived) & echo hi`;
    const running = host(
      `const { stdout, survivors } = await bash(${JSON.stringify(survivor)}, { cwd: ${JSON.stringify(cwd)} });
       console.log(stdout + survivors.length);`,
    );
    expect((await running.ended()).code).toBe(0);
    expect(running.stdout()).toMatch(/^hi\n[12]\n$/);
    writeFileSync(join(cwd, 'go'), '');
    await until(() => existsSync(join(cwd, 'survived')) && readFileSync(join(cwd, 'survived'), 'utf8') === '0\n');
  });

  test('nor while the host lives on', async () => {
    const cwd = folder();
    const result = await bash('(until [ -e go ]; do sleep .05; done; seq 100000; echo "$?" > survived) & echo hi', {
      cwd,
    });
    expect(result.stdout).toBe('hi\n');
    writeFileSync(join(cwd, 'go'), '');
    await until(() => existsSync(join(cwd, 'survived')) && readFileSync(join(cwd, 'survived'), 'utf8') === '0\n');
  });
});

describe('`echo o1; echo e1 >&2; echo o2; echo e2 >&2`, merge: that order', () => {
  test('four lines', async () => {
    const result = await bash('echo o1; echo e1 >&2; echo o2; echo e2 >&2', { merge: true });
    expect(result).toMatchObject({ stdout: 'o1\ne1\no2\ne2\n', stderr: '' });
    expect(result.truncation.stderr).toBeNull();
  });

  test('a thousand, of several processes', async () => {
    const chunks: string[] = [];
    const command = 'for i in {1..500}; do echo "o$i"; echo "e$i" >&2; done; bash -c "echo last >&2"; /bin/echo end';
    const result = await bash(command, {
      merge: true,
      onOutput: ({ stream, text }) => {
        expect(stream).toBe('stdout');
        chunks.push(text);
      },
    });
    let expected = '';
    for (let n = 1; n <= 500; n++) expected += `o${n}\ne${n}\n`;
    expect(result.stdout).toBe(`${expected}last\nend\n`);
    expect(chunks.join('')).toBe(result.stdout);
  });
});

describe('bytes `e2`, 50 ms later `80 94`: one em dash', () => {
  const command = "printf '\\xe2'; sleep .05; printf '\\x80\\x94'";

  test('in `onOutput` and in the result', async () => {
    for (const progress of ['collapse', 'keep'] as const) {
      const chunks: string[] = [];
      const result = await bash(command, {
        sanitize: { progress },
        onOutput: ({ text }) => {
          chunks.push(text);
        },
      });
      expect(result.stdout).toBe('—');
      expect(chunks.filter(Boolean)).toEqual(['—']);
    }
  });

  test('unsanitized too, and of every length split at every byte', async () => {
    const text = 'é—😀x漢\n';
    const chunks: string[] = [];
    const result = await bash(drip(everyByte(text)), {
      cwd: folder(),
      sanitize: false,
      onOutput: ({ text }) => {
        chunks.push(text);
      },
    });
    expect(result.stdout).toBe(text);
    expect(chunks.join('')).toBe(text);
    expect(chunks.some((chunk) => chunk.includes('\uFFFD') || hasLoneSurrogate(chunk))).toBe(false);
  });

  test.each([1, 2, 3, 4, 5, 6])('at a cut of %i bytes', async (maxBytes) => {
    for (const keep of ['tail', 'head'] as const) {
      const { stdout } = await bash(`printf ab; ${command}; printf cd`, { truncate: { keep, maxBytes }, spill: false });
      expect(stdout).not.toContain('\uFFFD');
      expect('ab—cd').toContain(stdout.split('\n')[0]);
    }
  });

  test('a character that never ends is one replacement', async () => {
    expect((await bash("printf 'a\\xe2\\x80'; sleep .05; printf 'b'")).stdout).toBe('a\uFFFDb');
    expect((await bash("printf 'a\\xf0\\x9f\\x98'")).stdout).toBe('a\uFFFD');
  });
});

describe('an emoji at the cut: no half of it, no lone surrogate', () => {
  const text = 'ab😀cd😀ef';
  const policies: Truncate[] = [];
  for (let limit = 1; limit <= 9; limit++) {
    for (const keep of ['tail', 'head'] as const) policies.push({ keep, maxBytes: limit }, { keep, maxChars: limit });
    policies.push({ keep: 'ends', maxBytes: 10, headBytes: limit, tailBytes: 10 - limit });
  }

  test.each(policies)('%j', async (truncate) => {
    const result = await bash(`printf '%s' '${text}'`, { truncate, spill: false });
    expect(hasLoneSurrogate(result.stdout)).toBe(false);
    expect(result.stdout).not.toContain('\uFFFD');
    const lines = result.stdout.split('\n');
    if (truncate.keep === 'head') expect(text.startsWith(lines[0] ?? '-')).toBe(true);
    if (truncate.keep === 'tail') expect(text.endsWith(lines[0] ?? '-')).toBe(true);
    const kept = result.truncation.stdout;
    expect(kept).not.toBeNull();
    expect(kept?.outputBytes).toBeLessThanOrEqual('maxBytes' in truncate ? (truncate.maxBytes ?? 0) : 14);
  });
});

describe('bytes that are no text: replaced or dropped, never an error', () => {
  test('a few of them need no note', async () => {
    const result = await bash("printf 'a\\xffb\\n'");
    expect(result).toMatchObject({ stdout: 'a\uFFFDb\n', exitCode: 0 });
    expect(result.notes).toEqual([]);
  });

  test('NULs are dropped', async () => {
    const result = await bash("printf 'a\\x00b\\x00\\n'");
    expect(result.stdout).toBe('ab\n');
  });

  test.each([
    ['a binary file', 'cat "$BASH"'],
    ['noise', 'head -c 200000 /dev/urandom'],
    ['UTF-16', "for i in {1..500}; do printf '\\xff\\xfeh\\x00i\\x00\\n\\x00'; done"],
    ['Latin-1', "for i in {1..500}; do printf 'caf\\xe9\\n'; done"],
  ])('%s: more than a few say so in a note', async (_, command) => {
    const chunks: string[] = [];
    const result = await bash(command, {
      spill: { dir: folder() },
      onOutput: ({ text }) => {
        chunks.push(text);
      },
    });
    expect(result).toMatchObject({ status: 'exited', exitCode: 0 });
    expect(result.notes.length).toBeGreaterThanOrEqual(1);
    expect(hasLoneSurrogate(result.stdout + chunks.join(''))).toBe(false);
    expect(Buffer.from(chunks.join('')).toString()).toBe(chunks.join(''));
    if (result.truncation.stdout?.path) {
      expect(readFileSync(result.truncation.stdout.path, 'utf8') === chunks.join('')).toBe(true);
    }
  });
});

describe('`grep x /dev/null`: exit code 1, an ordinary result', () => {
  test.each([
    ['grep x /dev/null', 1],
    ['false', 1],
    ['exit 255', 255],
    ['no-such-program-anywhere', 127],
    ['/', 126],
    ['test a = b', 1],
    ['ls /nowhere/at/all', 2],
    ['if', 2],
  ])('%s: %i', async (command, exitCode) => {
    expect(await bash(command)).toMatchObject({ status: 'exited', exitCode, signal: null });
  });
});
