import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type BashLimits, bash } from 'agent-bash';
import { createBashTool } from 'agent-bash/ai';
import { describe, expect, test } from 'vitest';
import { folder, linuxTest, mark, mentioning, quote, settles, sleepers, until } from '../../../support/index.ts';

const MIB = 1 << 20;
/** A program in Node, as a word or more of shell; the tests need no other language. */
const node = (program: string) => `${quote(process.execPath)} -e ${quote(program)}`;
/** Takes that many MiB, says `took` and keeps them. */
const take = (mebibytes: number) =>
  node(`globalThis.b = Buffer.alloc(${mebibytes} << 20, 1); console.log('took'); setInterval(() => {}, 1e6)`);
/** Takes 1 GiB, and ends by itself. */
const grow = node(
  'const all = []; for (let n = 0; n < 1024; n++) all.push(Buffer.alloc(1 << 20, 1)); setTimeout(() => {}, 15_000)',
);
const spin = 'while :; do :; done';
/** The named limit, as notes begin. */
const names = (limit: keyof BashLimits) => expect.stringMatching(new RegExp(`^limits\\.${limit}: `));

describe('CPU time', () => {
  test('of one process: SIGTERM, and a note with both figures', async () => {
    const result = await settles(bash(spin, { limits: { cpuSeconds: 0.5 }, timeoutMs: 20_000 }));
    expect(result).toMatchObject({ status: 'signaled', exitCode: 143, signal: 'SIGTERM', survivors: [] });
    expect(result.notes).toEqual([
      expect.stringMatching(
        /^limits\.cpuSeconds: the command's processes used [\d.]+ s of CPU time together, over the limit of 0\.5 s; they were ended$/,
      ),
    ]);
    expect(result.usage.userMs + result.usage.systemMs).toBeGreaterThan(480);
    expect(result.usage.userMs + result.usage.systemMs).toBeLessThan(2_000);
  });

  test('is counted over the whole tree', async () => {
    const command = `for i in 1 2 3 4; do (${spin}) & done; setsid bash -c ${quote(spin)} & wait`;
    const result = await settles(bash(command, { limits: { cpuSeconds: 1 }, timeoutMs: 20_000 }));
    expect(result).toMatchObject({ status: 'signaled', notes: [names('cpuSeconds')] });
    // None of the five had used up the limit by itself.
    expect(result.usage.userMs + result.usage.systemMs).toBeLessThan(3_000);
  });

  test('of processes that have ended counts as well', async () => {
    const command = "while :; do bash -c 'for ((i = 0; i < 5000; i++)); do :; done'; done";
    const result = await settles(bash(command, { limits: { cpuSeconds: 0.5 }, timeoutMs: 20_000 }));
    expect(result).toMatchObject({ status: 'signaled', notes: [names('cpuSeconds')] });
  });

  test('SIGKILL after the grace, for who does not hear', async () => {
    const result = await settles(bash(`trap '' TERM; ${spin}`, { limits: { cpuSeconds: 0.2 }, graceMs: 200 }));
    expect(result).toMatchObject({
      status: 'signaled',
      exitCode: 137,
      signal: 'SIGKILL',
      notes: [names('cpuSeconds')],
    });
  });

  test('a shell that exits in its handler: the limit still tells', async () => {
    const result = await settles(bash(`trap 'echo bye; exit 0' TERM; ${spin}`, { limits: { cpuSeconds: 0.2 } }));
    expect(result).toMatchObject({ status: 'signaled', exitCode: 143, signal: 'SIGTERM', stdout: 'bye\n' });
  });

  test('waiting costs none', async () => {
    const result = await bash('sleep 1; echo done', { limits: { cpuSeconds: 0.5 } });
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, stdout: 'done\n', notes: [] });
  });
});

describe('memory', () => {
  test('of one process: SIGKILL at once, and a note with both figures', async () => {
    const result = await settles(bash(grow, { limits: { memoryBytes: 200 * MIB }, timeoutMs: 20_000 }));
    expect(result).toMatchObject({ status: 'signaled', exitCode: 137, signal: 'SIGKILL', survivors: [] });
    expect(result.notes).toEqual([
      expect.stringMatching(
        /^limits\.memoryBytes: the command's processes held [\d.]+ [MG]iB together, over the limit of 200 MiB; they were ended$/,
      ),
    ]);
  });

  test('is counted over the whole tree', async () => {
    const seconds = mark();
    const command = `sleep ${seconds} & ${take(150)} & setsid ${take(150)} & wait`;
    const result = await settles(bash(command, { limits: { memoryBytes: 300 * MIB }, timeoutMs: 20_000 }));
    expect(result).toMatchObject({ status: 'signaled', exitCode: 137, notes: [names('memoryBytes')] });
    expect(sleepers(seconds)).toEqual([]);
  });

  // Ten copies of a shell that holds 20 MB share nearly all of it.
  linuxTest('what processes share is counted once (Linux)', async () => {
    const command = `big=$(printf '%*s' 20000000 ''); for i in {1..10}; do (read -rt .5 <> <(:)) & done; wait; echo done`;
    const result = await settles(bash(command, { limits: { memoryBytes: 150 * MIB } }));
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, stdout: 'done\n', notes: [] });
    expect(result.usage.maxRssBytes * 10).toBeGreaterThan(150 * MIB);
  });

  // Between vfork and exec a child shows the memory of its parent as its own.
  test('a large process that starts others is not counted twice', async () => {
    const program = `const b = Buffer.alloc(150 << 20, 1); const { spawnSync } = require('node:child_process');
      const until = Date.now() + 1000; while (Date.now() < until) spawnSync('true'); console.log(b.length > 0)`;
    const result = await settles(bash(node(program), { limits: { memoryBytes: 280 * MIB } }));
    expect(result).toMatchObject({ status: 'exited', stdout: 'true\n', notes: [] });
  });
});

describe('processes', () => {
  test('more than the limit at once: SIGKILL for all, and a note', async () => {
    const seconds = mark();
    const command = `for i in 1 2 3 4 5 6 7 8 9; do sleep ${seconds} & done; wait`;
    const result = await settles(bash(command, { limits: { processes: 6 } }));
    expect(result).toMatchObject({
      status: 'signaled',
      exitCode: 137,
      signal: 'SIGKILL',
      survivors: [],
      notes: ['limits.processes: the command had more than 6 processes at once; they were ended'],
    });
    expect(sleepers(seconds)).toEqual([]);
  });

  test('exactly as many are allowed, and any number one after another', async () => {
    const command = 'sleep .3 & sleep .3 & for i in {1..100}; do /bin/true; done; wait; echo done';
    const result = await bash(command, { limits: { processes: 4 } });
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, stdout: 'done\n', notes: [] });
  });

  test('what a command left running is held to them as well', async () => {
    const seconds = mark();
    const late = `sleep .6; for i in 1 2 3 4 5 6 7 8 9; do sleep ${seconds} & done; wait`;
    const result = await bash(`bash -c '${late}' > /dev/null 2>&1 &`, { limits: { processes: 6 } });
    expect(result).toMatchObject({ status: 'exited', notes: [] });
    await until(() => mentioning(seconds).length === 0);
  });
});

describe('open files', () => {
  test('each process has that many, and no right to more', async () => {
    const result = await bash('ulimit -n; ulimit -Hn; bash -c "ulimit -n"; ulimit -n 100', {
      limits: { openFiles: 20 },
    });
    expect(result.stdout).toBe('20\n20\n20\n');
    expect(result.exitCode).not.toBe(0);
  });

  test('a command that failed by it says so', async () => {
    const note = (most: number) => `limits.openFiles: no process of the command may have more than ${most} files open`;
    const open = 'for ((i = 3; i < 60; i++)); do eval "exec $i</dev/null" || exit 4; done';
    const result = await bash(open, { limits: { openFiles: 20 } });
    expect(result.exitCode).not.toBe(0);
    expect(result.notes).toEqual([note(20)]);
    const many = node(`const fs = require('node:fs'); for (;;) fs.openSync('/dev/null', 'r')`);
    const failed = await bash(many, { limits: { openFiles: 60 } });
    expect(failed.exitCode).not.toBe(0);
    expect(failed.notes).toEqual([note(60)]);
  });

  test('is never raised', async () => {
    const asked = await bash('ulimit -n; ulimit -Hn', { limits: { openFiles: Number.MAX_SAFE_INTEGER } });
    expect(asked.stdout).toBe((await bash('ulimit -n; ulimit -Hn')).stdout);
  });
});

describe('file size', () => {
  test('a file ends at the limit, the writer by SIGXFSZ, and a note says why', async () => {
    const cwd = folder();
    const result = await bash('head -c 5000 /dev/zero > file', { cwd, limits: { fileBytes: 1_000 } });
    expect(result).toMatchObject({ exitCode: 153, notes: [names('fileBytes')] });
    expect(statSync(join(cwd, 'file')).size).toBe(1_000);
    const whole = await bash('exec head -c 5000 /dev/zero > file', { cwd, limits: { fileBytes: 1_000 } });
    expect(whole).toMatchObject({ status: 'signaled', exitCode: 153, signal: 'SIGXFSZ', notes: [names('fileBytes')] });
  });

  test('a program that ignores the signal is reported', async () => {
    const write = node(`require('node:fs').writeFileSync('file', Buffer.alloc(5000))`);
    const result = await bash(write, { cwd: folder(), limits: { fileBytes: 1_000 } });
    expect(result).toMatchObject({ status: 'exited', exitCode: 1, notes: [names('fileBytes')] });
  });

  test('pipes and spilled output are not affected', async () => {
    const result = await bash('seq 100000', { limits: { fileBytes: 1_000 } });
    expect(result).toMatchObject({ exitCode: 0, notes: [] });
    expect(statSync(result.truncation.stdout?.path ?? '').size).toBeGreaterThan(500_000);
  });
});

test('limits of one command are not those of the next', async () => {
  const before = (await bash('ulimit -n; ulimit -f')).stdout;
  const limits = { cpuSeconds: 0.2, memoryBytes: 100 * MIB, processes: 3, openFiles: 20, fileBytes: 1_000 };
  expect((await bash(spin, { limits })).status).toBe('signaled');
  expect(await bash(`ulimit -n; ulimit -f; ${take(150).replace('setInterval', 'void')}`)).toMatchObject({
    stdout: `${before}took\n`,
    exitCode: 0,
    notes: [],
  });
});

describe('usage', () => {
  test('counts survivors too', async () => {
    const work = 'for ((i = 0; i < 200000; i++)); do :; done';
    const result = await bash(`(${work}; echo ready; read -rt 5 <> <(:)) & read -rt .01 <> <(:); wait -n; ${work}`);
    expect(result.usage.userMs).toBeGreaterThan(0);
    const left = await bash(`mkfifo done; (${work}; echo > done; sleep 20) & read < done`, { cwd: folder() });
    for (const { pid } of left.survivors) process.kill(pid, 'SIGKILL');
    // A shell that only waits takes a few milliseconds itself.
    const alone = await bash('mkfifo done; (echo > done; sleep 20) & read < done', { cwd: folder() });
    for (const { pid } of alone.survivors) process.kill(pid, 'SIGKILL');
    expect(left.usage.userMs + left.usage.systemMs).toBeGreaterThan(alone.usage.userMs + alone.usage.systemMs + 50);
  });
});

test('createBashTool passes them through', async () => {
  const tool = createBashTool({ limits: { processes: 2 } });
  let last: unknown;
  for await (const output of tool.execute({ command: 'sleep 9 & sleep 9 & sleep 9 & wait' }, { toolCallId: '' })) {
    last = output;
  }
  expect(last).toMatchObject({ status: 'signaled', notes: [names('processes')] });
  const { value } = tool.toModelOutput({ output: last as never });
  expect(value).toMatch(/^\[command killed: SIGKILL\]\n/);
  expect(value).toMatch(/\n\[limits\.processes: .*\]$/);
});
