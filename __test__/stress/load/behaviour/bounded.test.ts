import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, HANG, hostEnv, hostResult, linuxTest, timed } from '../../../support/index.ts';

const MiB = 1 << 20;

interface Measured {
  grownBy: number;
  result: Awaited<ReturnType<typeof bash>>;
}

/** Runs a command in a host of its own. Returns the largest growth of that host's resident memory, in bytes. */
function measured(command: string, options: string): Promise<Measured> {
  return hostResult<Measured>(
    `await bash('seq 100000', { spill: false });
     const before = process.memoryUsage().rss;
     let most = before;
     const timer = setInterval(() => { most = Math.max(most, process.memoryUsage().rss); }, 10);
     const result = await bash(${JSON.stringify(command)}, ${options});
     clearInterval(timer);
     most = Math.max(most, process.memoryUsage().rss);
     console.log(JSON.stringify({ grownBy: most - before, result }));`,
  );
}

describe('memory is flat', () => {
  test('`yes` for 2 s; the file is capped at its limit, which the notice says', async () => {
    const dir = folder();
    const options = `{ timeoutMs: 2_000, spill: { dir: ${JSON.stringify(dir)}, maxBytes: ${4 * MiB} } }`;
    const { grownBy, result } = await measured('yes', options);
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124 });
    expect(grownBy).toBeLessThan(64 * MiB);
    const { path, spillError, notice } = result.truncation.stdout ?? {};
    expect(statSync(path ?? '').size).toBeLessThanOrEqual(4 * MiB);
    expect(statSync(path ?? '').size).toBeGreaterThan(3 * MiB);
    expect(readFileSync(path ?? '', 'utf8').startsWith('y\ny\ny\n')).toBe(true);
    expect(spillError).toBeTruthy();
    expect(notice).toContain(`Full output file may be incomplete: ${path} (`);
  });

  test('1 GiB of output', async () => {
    const command = 'yes "$(head -c 1000 /dev/zero | tr "\\0" x)" | head -c 1073741824';
    const { grownBy, result } = await measured(command, '{ timeoutMs: 80_000, spill: false }');
    expect(result).toMatchObject({ status: 'exited', exitCode: 0 });
    expect(result.truncation.stdout?.totalBytes).toBe(1 << 30);
    expect(grownBy).toBeLessThan(64 * MiB);
  });

  test('100 MB without a newline', async () => {
    const command = 'head -c 100000000 /dev/zero | tr "\\0" x';
    const { grownBy, result } = await measured(command, '{ timeoutMs: 80_000, spill: false }');
    expect(result).toMatchObject({ status: 'exited', exitCode: 0 });
    expect(result.truncation.stdout).toMatchObject({ totalBytes: 100_000_000, outputBytes: 51_200, partialLine: true });
    expect(grownBy).toBeLessThan(64 * MiB);
  });

  test('a listener that is slower than the command', async () => {
    const { grownBy, result } = await measured(
      'seq 20000000',
      '{ timeoutMs: 2_000, spill: false, onOutput: () => new Promise((resolve) => setTimeout(resolve, 20)) }',
    );
    expect(result.status).toBe('timed-out');
    expect(grownBy).toBeLessThan(64 * MiB);
  });

  test('both streams at once', async () => {
    const command = 'yes out | head -c 100000000 & yes err | head -c 100000000 >&2; wait';
    const { grownBy, result } = await measured(command, '{ timeoutMs: 80_000, spill: false }');
    expect(result.truncation.stdout?.totalBytes).toBe(100_000_000);
    expect(result.truncation.stderr?.totalBytes).toBe(100_000_000);
    expect(grownBy).toBeLessThan(64 * MiB);
  });
});

test('one line of 120 KB: cut', async () => {
  const result = await bash('head -c 119000 /dev/zero | tr "\\0" a; head -c 1000 /dev/zero | tr "\\0" z', {
    spill: false,
  });
  expect(result.truncation.stdout).toMatchObject({
    by: 'bytes',
    partialLine: true,
    totalBytes: 120_000,
    totalLines: 1,
  });
  const [kept = ''] = result.stdout.split('\n');
  expect(Buffer.byteLength(kept)).toBe(51_200);
  expect(kept).toMatch(/^a+z{1000}$/);
});

describe('many sessions', () => {
  test('old files are swept by age when one is written, and no others', async () => {
    const dir = folder();
    const first = await bash('seq 20000', { spill: { dir } });
    const second = await bash('seq 20001', { spill: { dir } });
    const old = first.truncation.stdout?.path ?? '';
    const young = second.truncation.stdout?.path ?? '';
    const others = ['notes.txt', `${old.slice(dir.length + 1)}.mine`].map((name) => join(dir, name));
    mkdirSync(join(dir, 'folder'));
    for (const path of others) writeFileSync(path, 'mine');
    const longAgo = new Date(Date.now() - 8 * 86_400_000);
    const lately = new Date(Date.now() - 6 * 86_400_000);
    for (const path of [old, join(dir, 'folder'), ...others]) utimesSync(path, longAgo, longAgo);
    utimesSync(young, lately, lately);
    await bash('echo small', { spill: { dir } });
    expect(statSync(old).size).toBeGreaterThan(0);
    const third = await bash('seq 20002', { spill: { dir } });
    const left = readdirSync(dir, { recursive: true }).map((name) => join(dir, String(name)));
    expect(left).not.toContain(old);
    expect(left).toEqual(
      expect.arrayContaining([young, third.truncation.stdout?.path, join(dir, 'folder'), ...others]),
    );
  });

  test('`retentionMs` sets the age', async () => {
    const dir = folder();
    const first = await bash('seq 20000', { spill: { dir, retentionMs: 60_000 } });
    const old = first.truncation.stdout?.path ?? '';
    const before = new Date(Date.now() - 120_000);
    utimesSync(old, before, before);
    await bash('seq 20001', { spill: { dir, retentionMs: 600_000 } });
    expect(statSync(old).isFile()).toBe(true);
    await bash('seq 20002', { spill: { dir, retentionMs: 60_000 } });
    expect(() => statSync(old)).toThrow();
  });

  test('nothing is left in the temporary directory by a finished command whose output was small', async () => {
    const TMPDIR = folder();
    hostEnv({ TMPDIR });
    await bash('seq 1000; echo error >&2', { env: { TMPDIR: '/tmp' } });
    await bash(`true ${'x'.repeat(200_000)}`);
    await bash('cat', { stdin: 'x'.repeat(300_000), truncate: { keep: 'tail' } });
    await bash('seq 8500', { truncate: { keep: 'tail', maxLines: 10 } });
    await bash('sleep 20', { timeoutMs: 100 });
    expect(readdirSync(TMPDIR)).toEqual([]);
  });
});

describe('1,000 commands at once', () => {
  test('under a limit of 512 descriptors: all finish, no lost result', async () => {
    const results = await hostResult<[number, string, string, number][]>(
      `const all = await Promise.all(Array.from({ length: 1000 }, (_, n) => bash('echo ' + n + '; echo e' + n + ' >&2; exit ' + (n % 200))));
       console.log(JSON.stringify(all.map(({ stdout, stderr, exitCode }, n) => [n, stdout, stderr, exitCode])));`,
      { before: 'ulimit -n 512' },
    );
    expect(results).toEqual(Array.from({ length: 1000 }, (_, n) => [n, `${n}\n`, `e${n}\n`, n % 200]));
  });

  test('under a limit that is nearly reached already', async () => {
    const outcome = await hostResult<string[]>(
      `import { closeSync, openSync } from 'node:fs';
       await bash('true');
       const held = [];
       try { for (;;) held.push(openSync('/dev/null')); } catch {}
       const full = await Promise.race([bash('echo full').then(({ stdout }) => stdout, ({ code }) => code), new Promise((resolve) => setTimeout(resolve, 500, 'queued'))]);
       for (const fd of held.slice(10)) closeSync(fd);
       const later = await Promise.all([1, 2, 3].map((n) => bash('echo ' + n)));
       console.log(JSON.stringify([full, ...later.map(({ stdout }) => stdout)]));`,
      { before: 'ulimit -n 128' },
    );
    expect(['full\n', 'queued', 'ERR_BASH_SPAWN']).toContain(outcome[0]);
    expect(outcome.slice(1)).toEqual(['1\n', '2\n', '3\n']);
  });

  test('a command still runs with the descriptor limit of the host', async () => {
    const limits = await hostResult<string>(
      "console.log(JSON.stringify((await bash('ulimit -Sn; ulimit -Hn')).stdout));",
      {
        before: 'ulimit -n 512',
      },
    );
    expect(limits.split('\n')[1]).toBe('512');
  });
});

linuxTest('Linux: a command that allocates until it is killed: its `oom_score_adj` is raised', async () => {
  const own = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));
  const { stdout } = await bash("cat /proc/$$/oom_score_adj; bash -c 'cat /proc/$$/oom_score_adj; true'");
  const [shell = '', child = ''] = stdout.split('\n');
  expect(Number(shell)).toBeGreaterThan(own);
  expect(Number(child)).toBeGreaterThan(own);
  expect(Number(readFileSync('/proc/self/oom_score_adj', 'utf8'))).toBe(own);
});

linuxTest('Linux: a command that runs out of its own memory dies, and the host does not', async () => {
  const result = await bash("ulimit -v 300000; x=$(head -c 100000000 /dev/zero | tr '\\0' x); y=$x$x$x$x; echo done", {
    timeoutMs: 20_000,
  });
  expect(result.exitCode).not.toBe(0);
  expect((await bash('echo on')).stdout).toBe('on\n');
});

describe('a long command runs, byte for byte', () => {
  test.each([131_000, 131_071, 131_072, 131_073, 200_000, 4 * MiB])('of %i bytes', async (length) => {
    const start = "printf '%s' '";
    const end = "' | cksum; exit 7";
    const body = 'é'.repeat(5) + 'a'.repeat(length - start.length - end.length - 10);
    const command = start + body + end;
    expect(Buffer.byteLength(command)).toBe(length);
    const [result, elapsed] = await timed(() => bash(command));
    expect(result).toMatchObject({ exitCode: 7, stderr: '' });
    expect(result.stdout).toBe((await bash('cksum', { stdin: body })).stdout);
    expect(elapsed).toBeLessThan(HANG);
  });
});
