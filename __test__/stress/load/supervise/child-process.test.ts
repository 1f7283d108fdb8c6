import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { hostResult, settles } from '../../../support/index.ts';

const run = promisify(execFile);
const entry = createRequire(import.meta.url).resolve('agent-bash');

async function nodesOwn(code: number): Promise<[number | null, string]> {
  const child = spawn('sh', ['-c', `echo ${code}; exit ${code}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (data) => {
    text += data;
  });
  const [status] = (await once(child, 'close')) as [number | null];
  return [status, text];
}

describe("Node's own `child_process`: neither reaps or loses the other's children", () => {
  test('before, during and after', async () => {
    expect(await settles(nodesOwn(3))).toEqual([3, '3\n']);
    const promise = bash('sleep .3; echo ours; exit 4');
    expect(await settles(nodesOwn(5))).toEqual([5, '5\n']);
    expect(execFileSync('echo', ['sync'], { encoding: 'utf8' })).toBe('sync\n');
    expect(await promise).toMatchObject({ exitCode: 4, stdout: 'ours\n' });
    expect(await settles(nodesOwn(6))).toEqual([6, '6\n']);
    expect((await run('echo', ['after'])).stdout).toBe('after\n');
  });

  test('many of both at once', async () => {
    const codes = Array.from({ length: 60 }, (_, n) => n);
    const [theirs, ours] = await settles(
      Promise.all([Promise.all(codes.map(nodesOwn)), Promise.all(codes.map((n) => bash(`echo ${n}; exit ${n}`)))]),
      60_000,
    );
    expect(theirs).toEqual(codes.map((n) => [n, `${n}\n`]));
    expect(ours.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual(codes.map((n) => [n, `${n}\n`]));
  });

  test('a child of Node that is killed, while commands end', async () => {
    const child = spawn('sleep', ['30']);
    const ours = Promise.all(Array.from({ length: 20 }, () => bash('true')));
    child.kill('SIGTERM');
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect([code, signal]).toEqual([null, 'SIGTERM']);
    expect((await ours).every(({ exitCode }) => exitCode === 0)).toBe(true);
  });

  test('a synchronous child blocks the loop, not the command', async () => {
    const promise = bash('echo ours; exit 7');
    expect(spawnSync('sleep', ['.5']).status).toBe(0);
    expect(await settles(promise)).toMatchObject({ exitCode: 7, stdout: 'ours\n' });
  });

  test('on worker threads, both at once', async () => {
    const source = `
      const { parentPort, workerData } = require('node:worker_threads');
      const { bash } = require(workerData);
      const { spawn } = require('node:child_process');
      const own = (code) => new Promise((resolve) => spawn('sh', ['-c', 'exit ' + code]).on('exit', resolve));
      (async () => {
        const codes = [...Array(15).keys()];
        const all = await Promise.all([...codes.map(own), ...codes.map((n) => bash('exit ' + n).then(({ exitCode }) => exitCode))]);
        parentPort.postMessage(all);
      })();`;
    const codes = [...Array(15).keys()];
    const workers = Array.from({ length: 3 }, () => new Worker(source, { eval: true, workerData: entry }));
    const messages = workers.map(async (worker) => ((await once(worker, 'message')) as [number[]])[0]);
    const main = Promise.all(codes.map((n) => bash(`exit ${n}`)));
    const [answers, own] = await settles(Promise.all([Promise.all(messages), main]), 60_000);
    expect(answers).toEqual(Array.from({ length: 3 }, () => [...codes, ...codes]));
    expect(own.map(({ exitCode }) => exitCode)).toEqual(codes);
    await Promise.all(workers.map((worker) => worker.terminate()));
    expect(await settles(nodesOwn(8))).toEqual([8, '8\n']);
  });

  test('handlers of the host for SIGCHLD, SIGPIPE and SIGTERM stay its own', async () => {
    const outcome = await hostResult<number[]>(`
      import { spawnSync } from 'node:child_process';
      const seen = [];
      for (const name of ['SIGCHLD', 'SIGPIPE', 'SIGTERM', 'SIGUSR2']) process.on(name, () => seen.push(name));
      const before = await bash('exit 1');
      process.kill(process.pid, 'SIGTERM');
      process.kill(process.pid, 'SIGPIPE');
      process.kill(process.pid, 'SIGUSR2');
      const { status } = spawnSync('sh', ['-c', 'exit 3']);
      const after = await bash('exit 2');
      while (!['SIGPIPE', 'SIGTERM', 'SIGUSR2'].every((name) => seen.includes(name))) await new Promise((resolve) => setTimeout(resolve, 10));
      console.log(JSON.stringify([before.exitCode, status, after.exitCode]));
    `);
    expect(outcome).toEqual([1, 3, 2]);
  });

  test('a host that was started with signals ignored and blocked', async () => {
    const status = await hostResult<string>(
      'console.log(JSON.stringify((await bash(\'grep -E "^Sig(Blk|Ign)" /proc/self/status 2>/dev/null; trap\')).stdout));',
      { before: "trap '' HUP INT QUIT USR1 USR2 PIPE CHLD TERM" },
    );
    const empty = process.platform === 'linux' ? 'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n' : '';
    expect(status).toBe(empty);
  });
});
