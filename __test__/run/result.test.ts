import { type BashResult, bash, TRUNCATE } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { alive, confined, folder, mark, processOf, settles, until, way } from '../support/index.ts';

describe('the shape of a result', () => {
  const keys = [
    'background',
    'confinement',
    'draft',
    'durationMs',
    'evidence',
    'exitCode',
    'notes',
    'pid',
    'receipt',
    'reused',
    'runId',
    'signal',
    'stale',
    'status',
    'stderr',
    'stdout',
    'survivors',
    'target',
    'timeoutMs',
    'truncation',
    'undo',
    'usage',
    'view',
  ];

  const runs: [string, () => Promise<BashResult>][] = [
    ['a success', () => bash('echo hi')],
    ['a failure', () => bash('echo no >&2; exit 9')],
    ['a signal', () => bash('kill -KILL $$')],
    ['a time limit', () => bash('sleep 20', { timeoutMs: 50 })],
    ['an abort before', () => bash('sleep 20', { signal: AbortSignal.abort() })],
    ['cut streams', () => bash('seq 9000; seq 100000 >&2', { spill: { dir: folder() } })],
    ['survivors', () => bash(`sleep ${mark()} & echo hi`)],
    ['binary output', () => bash('head -c 3000 /dev/urandom')],
  ];

  test.each(runs)('%s: every field is there, and plain data', async (_, run) => {
    const result = await run();
    expect(Object.keys(result).sort()).toEqual(keys);
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
    expect(structuredClone(result)).toEqual(result);
    const visit = (value: unknown): void => {
      expect(value).not.toBeUndefined();
      expect(['bigint', 'function', 'symbol']).not.toContain(typeof value);
      if (value === null || typeof value !== 'object') return;
      expect([Object.prototype, Array.prototype]).toContain(Object.getPrototypeOf(value));
      for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
        expect(descriptor.get, key).toBeUndefined();
        if (!(Array.isArray(value) && key === 'length')) expect(descriptor.enumerable, key).toBe(true);
        visit(descriptor.value);
      }
    };
    visit(result);
  });

  test('the fields of a plain success', async () => {
    const result = await bash('echo out; echo err >&2');
    expect(result).toMatchObject({
      stdout: 'out\n',
      stderr: 'err\n',
      exitCode: 0,
      status: 'exited',
      signal: null,
      timeoutMs: 30_000,
      truncation: { stdout: null, stderr: null },
      background: null,
      survivors: [],
      notes: [],
    });
    expect(Number.isInteger(result.pid) && result.pid > 1).toBe(true);
    expect(result.durationMs).toBeGreaterThan(0);
    expect(result.durationMs).toBeLessThan(20_000);
  });

  test('the fields of a truncation', async () => {
    const { truncation } = await bash('seq 8500', { truncate: TRUNCATE.tail });
    expect(Object.keys(truncation.stdout ?? {}).sort()).toEqual(
      [
        'keep',
        'by',
        'totalLines',
        'totalBytes',
        'outputLines',
        'outputBytes',
        'firstLine',
        'lastLine',
        'partialLine',
        'path',
        'artifactId',
        'spillError',
        'notice',
      ].sort(),
    );
  });
});

describe('exit codes and signals', () => {
  test.each([0, 1, 2, 42, 124, 126, 127, 128, 130, 137, 200, 255])('exit %i', async (code) => {
    expect(await bash(`exit ${code}`)).toMatchObject({ status: 'exited', exitCode: code, signal: null });
  });

  test.each([
    ['exit 256', 0],
    ['exit -1', 255],
    ['exit 300', 44],
  ])('%s: %i', async (command, exitCode) => {
    expect(await bash(command)).toMatchObject({ status: 'exited', exitCode });
  });

  test.each([
    ['HUP', 129],
    ['INT', 130],
    ['ILL', 132],
    ['ABRT', 134],
    ['FPE', 136],
    ['KILL', 137],
    ['SEGV', 139],
    ['PIPE', 141],
    ['ALRM', 142],
    ['TERM', 143],
  ])('a shell ended by SIG%s: %i', async (name, exitCode) => {
    const result = await bash(`ulimit -c 0; echo before; kill -${name} $$; echo after`);
    expect(result).toMatchObject({ status: 'signaled', exitCode, signal: `SIG${name}`, stdout: 'before\n' });
    expect(result.notes).toEqual([]);
  });

  test('a child ended by a signal is an exit of the shell', async () => {
    expect(await bash("bash -c 'kill -TERM $$'; exit $?")).toMatchObject({
      status: 'exited',
      exitCode: 143,
      signal: null,
    });
    expect(await bash("bash -c 'kill -KILL $$'; true")).toMatchObject({ status: 'exited', exitCode: 0 });
  });

  test('the last command, in place of the shell', async () => {
    expect(await bash("exec bash -c 'kill -USR1 $$'")).toMatchObject({
      status: 'signaled',
      signal: 'SIGUSR1',
      exitCode: 138,
    });
    expect(await bash("exec bash -c 'exit 6'")).toMatchObject({ status: 'exited', exitCode: 6 });
  });
});

describe('pid', () => {
  test('is the shell, its group and its session', async () => {
    const result = await bash('echo $$; ps -o pgid= -o sid= -p $$');
    const [pid, group, session] = result.stdout.trim().split(/\s+/).map(Number);
    expect([group, session]).toEqual([pid, pid]);
    // A confined command has another number inside.
    if (!confined) expect(pid).toBe(result.pid);
  });

  test('is another one for each command', async () => {
    const pids = (await Promise.all(Array.from({ length: 20 }, () => bash('true')))).map(({ pid }) => pid);
    expect(new Set(pids).size).toBe(20);
    // In a session a shell still writes down what the next one is to have.
    if (way !== 'session') expect(pids.some(alive)).toBe(false);
    await until(() => !pids.some((pid) => processOf(pid)), 'nothing of them is left, no zombie either');
  });
});

describe('usage', () => {
  test('counts the work of the whole tree', async () => {
    const busy = 'for ((i = 0; i < 300000; i++)); do :; done';
    const { usage } = await bash(`bash -c '${busy}'; ${busy}`);
    expect(usage.userMs).toBeGreaterThan(50);
    expect(usage.systemMs).toBeGreaterThanOrEqual(0);
    expect(usage.maxRssBytes).toBeGreaterThan(500_000);
    expect(usage.maxRssBytes).toBeLessThan(1 << 30);
  });

  test('sees the memory of a child', async () => {
    const { usage } = await bash("node -e 'Buffer.alloc(200 << 20, 1)'; true");
    expect(usage.maxRssBytes).toBeGreaterThan(200 << 20);
  });

  test('is that of one command alone', async () => {
    await bash("node -e 'Buffer.alloc(200 << 20, 1)'; true");
    const { usage } = await bash('true');
    expect(usage.maxRssBytes).toBeLessThan(50 << 20);
    expect(usage.userMs).toBeLessThan(1_000);
  });
});

describe('durationMs', () => {
  test('is to the end of the shell', async () => {
    const { durationMs } = await bash('sleep .5');
    expect(durationMs).toBeGreaterThanOrEqual(490);
    expect(durationMs).toBeLessThan(10_000);
  });
});

describe('independence', () => {
  test('each command is a fresh shell', async () => {
    const cwd = folder();
    await bash('x=1; export y=2; cd /; alias ll=ls; f() { :; }; set -u; shopt -s extglob; umask 0777; ulimit -n 64', {
      cwd,
    });
    const { stdout } = await bash('echo "$x:$y:$PWD:$-"; type f ll 2>&1 | head -c 0; umask; shopt extglob', { cwd });
    const plain = await bash('umask');
    expect(stdout).toBe(`::${cwd}:hBc\n${plain.stdout}extglob        \toff\n`);
  });

  test('many at once do not mix', async () => {
    const all = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        bash(`for i in 1 2 3; do echo ${n}; echo e${n} >&2; sleep .01; done; exit ${n}`),
      ),
    );
    expect(all.map(({ stdout, stderr, exitCode }) => [stdout, stderr, exitCode])).toEqual(
      Array.from({ length: 60 }, (_, n) => [`${n}\n`.repeat(3), `e${n}\n`.repeat(3), n]),
    );
  });

  test('a command may run commands of ours', async () => {
    const script =
      "import('agent-bash').then(({ bash }) => bash('echo inner; exit 3')).then((r) => console.log(r.stdout + r.exitCode))";
    const { stdout } = await settles(bash(`node -e "${script}"`));
    expect(stdout).toBe('inner\n3\n');
  });
});
