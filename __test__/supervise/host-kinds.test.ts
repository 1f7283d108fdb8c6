import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { hostResult, linuxTest, mark, settles, sleepers, supervisorOf, until } from '../support/index.ts';

const entry = createRequire(import.meta.url).resolve('agent-bash');

function worker(source: string, options: object = {}): Worker {
  const head =
    "const { workerData, parentPort } = require('node:worker_threads');\nconst { bash } = require(workerData.entry);\n";
  return new Worker(head + source, { eval: true, workerData: { entry, ...options } });
}

describe('worker threads', () => {
  test('each runs commands, with its own environment and directory', async () => {
    const one = new Worker(
      `const { workerData, parentPort } = require('node:worker_threads');
       const { bash } = require(workerData);
       process.env.ONLY_HERE = 'worker';
       bash('echo "$ONLY_HERE:$GIVEN"').then(({ stdout }) => parentPort.postMessage(stdout));`,
      { eval: true, workerData: entry, env: { ...process.env, GIVEN: 'to the worker' } },
    );
    const exited = once(one, 'exit');
    const [text] = (await once(one, 'message')) as [string];
    expect(text).toBe('worker:to the worker\n');
    expect((await bash('echo "$ONLY_HERE:$GIVEN"')).stdout).toBe(':\n');
    await exited;
  });

  linuxTest('Linux: share one supervisor', async () => {
    await bash('true');
    const before = supervisorOf()?.pid;
    const workers = Array.from({ length: 4 }, () =>
      worker("bash('exit 3').then(({ exitCode }) => parentPort.postMessage(exitCode));"),
    );
    const codes = await Promise.all(workers.map(async (one) => ((await once(one, 'message')) as [number])[0]));
    expect(codes).toEqual([3, 3, 3, 3]);
    expect(supervisorOf()?.pid).toBe(before);
  });

  test('listeners are called on the thread of their call', async () => {
    const one = worker(
      "let text = ''; bash('echo a; echo b', { onOutput: (chunk) => { text += chunk.text; } }).then(({ stdout }) => parentPort.postMessage(text === stdout));",
    );
    expect(await once(one, 'message')).toEqual([true]);
  });

  test('many that end while their commands run: the others go on', async () => {
    const seconds = mark();
    const mine = bash('sleep 1; echo mine');
    const workers = Array.from({ length: 6 }, () =>
      worker(`bash('sleep ${seconds}; :'); bash('yes', { onOutput() {} });`),
    );
    await until(() => sleepers(seconds).length === 6);
    await Promise.all(workers.map((one) => one.terminate()));
    await until(() => sleepers(seconds).length === 0);
    expect((await settles(mine)).stdout).toBe('mine\n');
    expect((await settles(bash('echo on'))).stdout).toBe('on\n');
  });

  test('one that ends while its listener is called', async () => {
    for (let round = 0; round < 5; round++) {
      const one = worker("bash('yes', { onOutput() { parentPort.postMessage('called'); } });");
      await once(one, 'message');
      await one.terminate();
    }
    expect((await settles(bash('echo on'))).stdout).toBe('on\n');
  });
});

describe('hosts of all kinds', () => {
  test('one that forks itself: each has its own helpers', async () => {
    const outcome = await hostResult<string[]>(`
      import { fork } from 'node:child_process';
      const first = await bash('echo parent');
      const text = await new Promise((resolve) => fork('--input-type=module', { execArgv: ['--input-type=module', '-e', "import { bash } from 'agent-bash'; process.send((await bash('echo child')).stdout); process.disconnect();"], stdio: 'inherit' }).on('message', resolve));
      const last = await bash('echo again');
      console.log(JSON.stringify([first.stdout, text, last.stdout]));
    `);
    expect(outcome).toEqual(['parent\n', 'child\n', 'again\n']);
  });

  test('one with its standard descriptors closed', async () => {
    const outcome = await hostResult<string>(
      "console.log(JSON.stringify((await bash('cat; echo out; echo err >&2')).stdout));",
      {
        before: 'exec 0<&- 2>&-',
      },
    );
    expect(outcome).toBe('out\n');
  });

  test('one in which no process of ours was ever wanted starts none', async () => {
    const outcome = await hostResult<number>(
      "import { execFileSync } from 'node:child_process';\nvoid bash; console.log(execFileSync('ps', ['-o', 'pid=', '--ppid', String(process.pid)], { encoding: 'utf8' }).trim().split('\\n').length);",
    );
    expect(outcome).toBe(1);
  });

  test('a signal to the group of the host does not reach its commands', async () => {
    const outcome = await hostResult<[string, number]>(
      `
      process.on('SIGINT', () => {});
      const promise = bash('echo up; sleep .6; echo on', { onOutput: ({ text }) => { if (text.includes('up')) process.kill(0, 'SIGINT'); } });
      const { stdout, exitCode } = await promise;
      console.log(JSON.stringify([stdout, exitCode]));
    `,
      { detached: true },
    );
    expect(outcome).toEqual(['up\non\n', 0]);
  });
});
