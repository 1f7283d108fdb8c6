import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { bash, TRUNCATE } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  chomp,
  folder,
  host,
  hostEnv,
  hostResult,
  isRoot,
  packageRoot,
  rootTest,
  seq,
  until,
} from '../support/index.ts';

// Another user can run our programs only if the package's directory and all above it are accessible to everyone.
const reachableByAll = packageRoot
  .split('/')
  .slice(0, -1)
  .every((_, index, names) => statSync(`/${names.slice(1, index + 1).join('/')}`).mode & 0o001);

const mode = (path: string) => statSync(path).mode & 0o7777;

describe('the file of a stream', () => {
  test('is 0600, ours, in a 0700 directory of ours, below TMPDIR', async () => {
    const TMPDIR = folder();
    hostEnv({ TMPDIR });
    const { truncation } = await bash('umask 0; seq 20000');
    const path = truncation.stdout?.path ?? '';
    expect(relative(TMPDIR, path)).not.toMatch(/^\.\./);
    expect(mode(path)).toBe(0o600);
    expect(statSync(path).uid).toBe(process.getuid?.());
    expect(lstatSync(path).isFile()).toBe(true);
    expect(lstatSync(dirname(path)).isDirectory()).toBe(true);
    expect(mode(dirname(path))).toBe(0o700);
    expect(statSync(dirname(path)).uid).toBe(process.getuid?.());
    expect(dirname(path)).not.toBe(TMPDIR);
    expect(readFileSync(path, 'utf8')).toBe(seq(1, 20_000));
  });

  test('is there for both streams, each with its own', async () => {
    const { truncation } = await bash('seq 20000; seq 30000 >&2', { spill: { dir: folder() } });
    const [out, err] = [truncation.stdout?.path ?? '', truncation.stderr?.path ?? ''];
    expect(out).not.toBe(err);
    expect(readFileSync(out, 'utf8')).toBe(seq(1, 20_000));
    expect(readFileSync(err, 'utf8')).toBe(seq(1, 30_000));
  });

  test('is made only when bytes or characters pass their limit', async () => {
    const dir = join(folder(), 'made');
    await bash('seq 8500', { spill: { dir } });
    await bash('seq 100', { spill: { dir }, truncate: { keep: 'tail', maxLines: 2 } });
    await bash('seq 20000 | head -c 51200', { spill: { dir } });
    expect(() => statSync(dir)).toThrow();
    const { truncation } = await bash('seq 20000 | head -c 51201', { spill: { dir } });
    expect(truncation.stdout?.path?.startsWith(`${dir}/`)).toBe(true);
    expect(mode(dir)).toBe(0o700);
    const chars = await bash('seq 100', { spill: { dir }, truncate: { keep: 'head', maxChars: 50 } });
    expect(readFileSync(chars.truncation.stdout?.path ?? '', 'utf8')).toBe(seq(1, 100));
  });

  test('holds the sanitized stream, whatever its size', async () => {
    const { stdout, truncation } = await bash(
      'for i in {1..20000}; do printf \'\\x1b[31m1%%\\r%s\\x1b[0m\\r\\n\' "$i"; done',
      { spill: { dir: folder() } },
    );
    const whole = readFileSync(truncation.stdout?.path ?? '', 'utf8');
    expect(whole.startsWith('1%\n2%\n')).toBe(true);
    expect(whole.includes('\r') || whole.includes('\x1b')).toBe(false);
    expect(whole.split('\n')).toHaveLength(20_001);
    expect(stdout.startsWith(whole.split('\n').slice(18_000).join('\n'))).toBe(true);
  });

  test('is written while the command runs', async () => {
    const dir = folder();
    const controller = new AbortController();
    const promise = bash('seq 20000; sleep 60', { spill: { dir }, signal: controller.signal });
    const [name = ''] = await until(() => {
      const names = readdirSync(dir);
      return names.length > 0 && statSync(join(dir, names[0] ?? '')).size === seq(1, 20_000).length && names;
    });
    controller.abort();
    const { truncation } = await promise;
    expect(truncation.stdout?.path).toBe(join(dir, name));
    expect(readFileSync(join(dir, name), 'utf8')).toBe(seq(1, 20_000));
  });

  test('is there after a time limit', async () => {
    const { truncation } = await bash('seq 20000; sleep 60', { spill: { dir: folder() }, timeoutMs: 1_500 });
    expect(readFileSync(truncation.stdout?.path ?? '', 'utf8')).toBe(seq(1, 20_000));
  });

  test('of many commands at once is one each', async () => {
    const dir = folder();
    const all = await Promise.all(Array.from({ length: 20 }, (_, n) => bash(`seq ${n} 20000`, { spill: { dir } })));
    const paths = all.map(({ truncation }) => truncation.stdout?.path ?? '');
    expect(new Set(paths).size).toBe(20);
    for (const [n, path] of paths.entries()) expect(readFileSync(path, 'utf8')).toBe(seq(n, 20_000));
  });

  test('`false` makes none', async () => {
    const TMPDIR = folder();
    hostEnv({ TMPDIR });
    const { stdout, truncation } = await bash('seq 20000', { spill: false });
    expect(truncation.stdout).toMatchObject({ path: null, spillError: null, artifactId: null });
    expect(chomp(stdout).endsWith('\n[stdout: Showing last 2000 of 20000 lines]')).toBe(true);
    expect(readdirSync(TMPDIR)).toEqual([]);
  });
});

describe('`dir`', () => {
  test('one that exists keeps its mode', async () => {
    const dir = folder();
    chmodSync(dir, 0o755);
    const { truncation } = await bash('seq 20000', { spill: { dir } });
    expect(truncation.stdout?.path?.startsWith(`${dir}/`)).toBe(true);
    expect(mode(dir)).toBe(0o755);
    expect(mode(truncation.stdout?.path ?? '')).toBe(0o600);
  });

  test('missing parents are made', async () => {
    const dir = join(folder(), 'a/b/c');
    const { truncation } = await bash('seq 20000', { spill: { dir } });
    expect(readFileSync(truncation.stdout?.path ?? '', 'utf8')).toBe(seq(1, 20_000));
    expect(mode(dir)).toBe(0o700);
  });

  test('that is a file: the run goes on', async () => {
    const dir = join(folder(), 'file');
    writeFileSync(dir, 'mine');
    const result = await bash('seq 20000; exit 3', { spill: { dir } });
    expect(result).toMatchObject({ status: 'exited', exitCode: 3 });
    expect(result.truncation.stdout?.spillError).toBeTruthy();
    expect(readFileSync(dir, 'utf8')).toBe('mine');
  });
});

describe('a planted file is refused', () => {
  test('a symbolic link in place of the directory below TMPDIR', async () => {
    const base = folder();
    const [TMPDIR, victim] = [join(base, 'tmp'), join(base, 'victim')];
    mkdirSync(TMPDIR);
    mkdirSync(victim);
    hostEnv({ TMPDIR });
    const first = await bash('seq 20000');
    const own = dirname(first.truncation.stdout?.path ?? '');
    rmSync(own, { recursive: true });
    symlinkSync(victim, own);
    const second = await bash('seq 20000');
    expect(second.exitCode).toBe(0);
    expect(readdirSync(victim)).toEqual([]);
    const path = second.truncation.stdout?.path;
    if (path) expect(dirname(path)).not.toBe(own);
    else expect(second.truncation.stdout?.spillError).toBeTruthy();
  });

  rootTest('a directory of another user (root only can show it)', async () => {
    const TMPDIR = folder();
    hostEnv({ TMPDIR });
    const first = await bash('seq 20000');
    const own = dirname(first.truncation.stdout?.path ?? '');
    rmSync(own, { recursive: true });
    mkdirSync(own, { mode: 0o777 });
    (await import('node:fs')).chownSync(own, 12_345, 12_345);
    const second = await bash('seq 20000');
    expect(second.exitCode).toBe(0);
    expect(readdirSync(own)).toEqual([]);
  });

  test.runIf(isRoot && reachableByAll)('two users on one machine do not collide (root only can show it)', async () => {
    const TMPDIR = folder();
    chmodSync(TMPDIR, 0o1777);
    const source = "console.log(JSON.stringify((await bash('seq 20000')).truncation.stdout));";
    interface Cut {
      path: string | null;
      spillError: string | null;
    }
    const mine = await hostResult<Cut>(source, { env: { TMPDIR } });
    const other = await hostResult<Cut>(`process.setgid(12345); process.setuid(12345);\n${source}`, {
      env: { TMPDIR, HOME: TMPDIR },
    });
    expect(mine.spillError).toBeNull();
    expect(other.spillError).toBeNull();
    expect(dirname(other.path ?? '')).not.toBe(dirname(mine.path ?? ''));
    expect(statSync(other.path ?? '').uid).toBe(12_345);
  });

  test('a symbolic link in place of an allocated path', async () => {
    const dir = folder();
    const [victim, path] = [join(dir, 'victim'), join(dir, 'link')];
    writeFileSync(victim, 'mine');
    symlinkSync(victim, path);
    const { exitCode, truncation } = await bash('seq 20000', { spill: { allocate: () => ({ id: 'x', path }) } });
    expect(exitCode).toBe(0);
    expect(truncation.stdout?.spillError).toBeTruthy();
    expect(readFileSync(victim, 'utf8')).toBe('mine');
  });

  test('a fifo in place of an allocated path hangs nothing', async () => {
    const cwd = folder();
    const path = join(cwd, 'fifo');
    await bash('mkfifo fifo', { cwd });
    const { exitCode, truncation } = await bash('seq 20000', { spill: { allocate: () => ({ id: 'x', path }) } });
    expect(exitCode).toBe(0);
    expect(truncation.stdout?.spillError).toBeTruthy();
  });
});

describe('`allocate`', () => {
  test('gives the place, and the notice its id', async () => {
    const path = join(folder(), 'artifact.txt');
    const calls: string[] = [];
    const allocate = (stream: 'stdout' | 'stderr') => {
      calls.push(stream);
      return { id: 'art-7', path };
    };
    const { stdout, truncation } = await bash('seq 20000', { spill: { allocate } });
    expect(calls).toEqual(['stdout']);
    expect(chomp(stdout).endsWith('\n[stdout: Showing last 2000 of 20000 lines. Full output: artifact://art-7]')).toBe(
      true,
    );
    expect(truncation.stdout).toMatchObject({ path, artifactId: 'art-7', spillError: null });
    expect(readFileSync(path, 'utf8')).toBe(seq(1, 20_000));
    expect(mode(path) & 0o077).toBe(0);
  });

  test('is not called while nothing overflows', async () => {
    const calls: string[] = [];
    await bash('seq 8500; seq 100 >&2', {
      spill: {
        allocate: (stream) => {
          calls.push(stream);
          return null;
        },
      },
    });
    expect(calls).toEqual([]);
  });

  test('once for each stream', async () => {
    const dir = folder();
    const calls: string[] = [];
    const { truncation } = await bash('seq 200000; seq 20000 >&2; seq 20000', {
      truncate: TRUNCATE.head,
      spill: {
        allocate: (stream) => {
          calls.push(stream);
          return { id: stream, path: join(dir, stream) };
        },
      },
    });
    expect(calls.sort()).toEqual(['stderr', 'stdout']);
    expect(truncation.stderr?.artifactId).toBe('stderr');
    expect(readFileSync(join(dir, 'stdout'), 'utf8')).toBe(seq(1, 200_000) + seq(1, 20_000));
  });

  test('a regular file that is there already is overwritten', async () => {
    const path = join(folder(), 'there');
    writeFileSync(path, 'old'.repeat(100_000));
    await bash('seq 20000', { spill: { allocate: () => ({ id: 'x', path }) } });
    expect(readFileSync(path, 'utf8')).toBe(seq(1, 20_000));
  });

  test.each([
    ['null', () => null],
    [
      'a throw',
      () => {
        throw new Error('the store is full');
      },
    ],
    ['nonsense', () => 'nonsense' as never],
    ['half of it', () => ({ id: 'x' }) as never],
    ['a folder', () => ({ id: 'x', path: '/tmp' })],
    ['a place that is not', () => ({ id: 'x', path: '/nowhere/at/all' })],
    ['a promise', (() => Promise.resolve({ id: 'x', path: '/tmp/x' })) as never],
  ] as [string, () => { id: string; path: string } | null][])(
    '%s sets `spillError`, and the run goes on',
    async (_, allocate) => {
      const result = await bash('seq 20000; exit 6', { spill: { allocate } });
      expect(result).toMatchObject({ status: 'exited', exitCode: 6 });
      expect(result.stdout.startsWith(seq(18_001, 20_000))).toBe(true);
      const error = result.truncation.stdout?.spillError ?? '';
      expect(error).not.toBe('');
      const words = `The full output could not be kept: ${error}`;
      expect(chomp(result.stdout).endsWith(`\n[stdout: Showing last 2000 of 20000 lines. ${words}]`)).toBe(true);
    },
  );

  test('the message of its throw is in the notice', async () => {
    const allocate = () => {
      throw new Error('the store is full');
    };
    const { stdout, truncation } = await bash('seq 20000', { spill: { allocate } });
    expect(truncation.stdout?.spillError).toContain('the store is full');
    expect(stdout).toContain(`. The full output could not be kept: ${truncation.stdout?.spillError}]`);
  });

  test('a long message is cut to 80 bytes', async () => {
    const allocate = () => {
      throw new Error(`é${'long '.repeat(100)}`);
    };
    const { stdout } = await bash('seq 20000', { spill: { allocate } });
    const [, error = ''] = /The full output could not be kept: ([^\]]*)\]\n?$/.exec(stdout) ?? [];
    expect(error).not.toBe('');
    expect(Buffer.byteLength(error)).toBeLessThanOrEqual(80);
  });
});

test('a host that is killed leaves its file unchanged, and affects no other process', async () => {
  const dir = folder();
  const running = host(`void bash('seq 20000; sleep 60', { spill: { dir: ${JSON.stringify(dir)} } });`);
  const [name = ''] = await until(() => {
    const names = readdirSync(dir);
    return names.length > 0 && statSync(join(dir, names[0] ?? '')).size > 50_000 && names;
  });
  running.process.kill('SIGKILL');
  await running.ended();
  expect(seq(1, 20_000).startsWith(readFileSync(join(dir, name), 'utf8'))).toBe(true);
});
