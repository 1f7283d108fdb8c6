import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  alive,
  folder,
  host,
  hostResult,
  linuxTest,
  mark,
  shimsOf,
  sleepers,
  supervisorOf,
  timed,
  until,
} from '../../../support/index.ts';

/** A host that runs a command with a whole tree below it: a child, a daemon, and one that clears its environment. */
function treeOf(seconds: string, options = ''): string {
  const command = `setsid sleep ${seconds} & (env -i setsid sleep ${seconds} &) ; sleep ${seconds}; sleep ${seconds}`;
  return `const command = bash(${JSON.stringify(command)}, { timeoutMs: 120_000${options} });\nvoid command;\n`;
}

const ends = [
  ['SIGHUP', "console.log('up'); setInterval(() => {}, 1000)", 'SIGHUP'],
  ['SIGINT', "console.log('up'); setInterval(() => {}, 1000)", 'SIGINT'],
  ['SIGTERM', "console.log('up'); setInterval(() => {}, 1000)", 'SIGTERM'],
  ['SIGABRT', "console.log('up'); setInterval(() => {}, 1000)", 'SIGABRT'],
  ['SIGSEGV', "console.log('up'); setInterval(() => {}, 1000)", 'SIGSEGV'],
  ['`process.abort`', "console.log('up'); process.stdin.resume(); END(() => process.abort())", null],
  ['`process.exit`', "console.log('up'); END(() => process.exit(4))", null],
  ['`process.reallyExit`', "console.log('up'); END(() => process.reallyExit(4))", null],
  ['an uncaught exception', "console.log('up'); END(() => { throw new Error('uncaught') })", null],
  ['an unhandled rejection', "console.log('up'); END(() => { void Promise.reject(new Error('unhandled')) })", null],
] as const;

describe("the host's end takes the foreground trees with it", () => {
  linuxTest('Linux: SIGKILL: gone within 2 s, trees included', async () => {
    const seconds = mark();
    const running = host(`${treeOf(seconds)}console.log('up');`);
    await until(() => sleepers(seconds).length === 3);
    running.process.kill('SIGKILL');
    await running.ended();
    const [, elapsed] = await timed(() => until(() => sleepers(seconds).length === 0));
    expect(elapsed).toBeLessThan(8_000);
  });

  linuxTest.each(ends)('Linux: %s', async (_, source, signal) => {
    const seconds = mark();
    const cwd = folder();
    const wait = `const END = (end) => { const poll = setInterval(() => { if (existsSync(${JSON.stringify(join(cwd, 'go'))})) { clearInterval(poll); end(); } }, 10); };`;
    const running = host(
      `import { existsSync, writeFileSync } from 'node:fs';\nvoid writeFileSync;\n${wait}\nvoid END;\n${treeOf(seconds)}${source}`,
      { before: 'ulimit -c 0' },
    );
    await until(() => sleepers(seconds).length === 3);
    await running.says(/up/);
    if (signal) running.process.kill(signal);
    else (await import('node:fs')).writeFileSync(join(cwd, 'go'), '');
    await running.ended();
    await until(() => sleepers(seconds).length === 0);
  });

  linuxTest('Linux: its helpers go as well', async () => {
    const seconds = mark();
    const running = host(`for (let n = 0; n < 3; n++) void bash('setsid sleep ${seconds} & sleep ${seconds}');`);
    await until(() => sleepers(seconds).length === 6);
    const supervisor = await until(() => supervisorOf(running.pid));
    const helpers = [supervisor.pid, ...shimsOf(supervisor.pid).map(({ pid }) => pid)];
    running.process.kill('SIGKILL');
    await running.ended();
    await until(() => !helpers.some(alive));
    expect(sleepers(seconds)).toEqual([]);
  });

  linuxTest('Linux: its helpers go with the last survivor', async () => {
    const seconds = mark();
    const running = host(`await bash('sleep ${seconds} &'); console.log('up'); setInterval(() => {}, 1000);`);
    await running.says(/up/);
    const supervisor = await until(() => supervisorOf(running.pid));
    const helpers = [supervisor.pid, ...shimsOf(supervisor.pid).map(({ pid }) => pid)];
    running.process.kill('SIGKILL');
    await running.ended();
    const [survivor = 0] = sleepers(seconds);
    expect(alive(survivor)).toBe(true);
    process.kill(survivor, 'SIGTERM');
    await until(() => !helpers.some(alive));
  });

  test('TERM comes before KILL, with the time to clean up', async () => {
    const cwd = folder();
    const command = "trap 'echo cleaned > cleaned; exit' TERM; echo up > up; while :; do sleep .05; done";
    const running = host(`void bash(${JSON.stringify(command)}, { cwd: ${JSON.stringify(cwd)} });`);
    await until(() => existsSync(join(cwd, 'up')));
    running.process.kill('SIGKILL');
    await until(() => existsSync(join(cwd, 'cleaned')) && readFileSync(join(cwd, 'cleaned'), 'utf8') === 'cleaned\n');
  });

  linuxTest('Linux: what ignores TERM is killed', async () => {
    const seconds = mark();
    const command = `trap '' TERM HUP INT; setsid sleep ${seconds} & sleep ${seconds}`;
    const running = host(`void bash(${JSON.stringify(command)}, { graceMs: 15_000 });`);
    await until(() => sleepers(seconds).length === 2);
    running.process.kill('SIGKILL');
    await until(() => sleepers(seconds).length === 0);
  });

  linuxTest('Linux: while the command is being ended already', async () => {
    const seconds = mark();
    const command = `trap '' TERM; setsid sleep ${seconds} & while :; do sleep ${seconds}; done`;
    const running = host(
      `const controller = new AbortController();
       void bash(${JSON.stringify(command)}, { graceMs: 15_000, signal: controller.signal });
       process.on('SIGUSR2', () => { controller.abort(); console.log('aborted'); });
       console.log('up');`,
    );
    await running.says(/up/);
    await until(() => sleepers(seconds).length >= 2);
    running.process.kill('SIGUSR2');
    await running.says(/aborted/);
    running.process.kill('SIGKILL');
    await until(() => sleepers(seconds).length === 0);
  });

  test('with output that has no reader any more', async () => {
    const seconds = mark();
    const running = host(
      `void bash('sleep ${seconds} & yes'); void bash('yes >&2 & sleep ${seconds}'); console.log('up');`,
    );
    await until(() => sleepers(seconds).length === 2);
    running.process.kill('SIGKILL');
    await until(() => sleepers(seconds).length === 0);
  });

  linuxTest('Linux: many commands at once', async () => {
    const seconds = mark();
    const running = host(
      `for (let n = 0; n < 40; n++) void bash('setsid sleep ${seconds} & sleep ${seconds}');\nsetInterval(() => {}, 1000);`,
    );
    await until(() => sleepers(seconds).length === 80);
    running.process.kill('SIGKILL');
    await until(() => sleepers(seconds).length === 0);
  });
});

describe('a worker thread that runs commands ends: only its own commands end', () => {
  const worker = (end: string, seconds: string) => `
    import { Worker } from 'node:worker_threads';
    import { createRequire } from 'node:module';
    const path = createRequire(process.cwd() + '/package.json').resolve('agent-bash');
    const source = ${JSON.stringify(`
      const { workerData, parentPort } = require('node:worker_threads');
      const { bash } = require(workerData.path);
      void bash('setsid sleep ' + workerData.seconds + ' & sleep ' + workerData.seconds);
      parentPort.on('message', (what) => {
        if (what === 'exit') process.exit(0);
        if (what === 'throw') throw new Error('the worker throws');
        if (what === 'close') parentPort.close();
      });
    `)};
    const mine = bash('read -r line; echo "$line"; echo on; sleep 1; until [ -e go ]; do sleep .05; done; echo end', { stdin: 'mine', cwd: process.env.HERE });
    const one = new Worker(source, { eval: true, execArgv: [], workerData: { path, seconds: '${seconds}' } });
    one.on('error', (error) => console.error(error));
    process.on('SIGUSR2', async () => {
      ${end}
    });
    one.on('exit', async () => {
      const later = await bash('echo later');
      console.error('ended');
      const result = await mine;
      const again = new Worker("const { bash } = require(require('node:worker_threads').workerData); bash('echo again').then(({ stdout }) => require('node:worker_threads').parentPort.postMessage(stdout))", { eval: true, execArgv: [], workerData: path });
      again.on('message', (text) => console.log(JSON.stringify([result.status, result.stdout, later.stdout, text])));
    });
    console.error('up');
  `;

  linuxTest.each([
    ['terminated', 'await one.terminate();'],
    ['by `process.exit` in it', "one.postMessage('exit');"],
    ['by an exception in it', "one.postMessage('throw');"],
  ])('Linux: %s', async (_, end) => {
    const seconds = mark();
    const cwd = folder();
    const running = host(worker(end, seconds), { env: { HERE: cwd } });
    try {
      await until(() => running.stderr().includes('up') && sleepers(seconds).length === 2);
    } catch (error) {
      throw new Error(`${(error as Error).message}; the host said: ${running.stderr()}`);
    }
    running.process.kill('SIGUSR2');
    await until(() => running.stderr().includes('ended'), 'the worker has ended');
    await until(() => sleepers(seconds).length === 0);
    (await import('node:fs')).writeFileSync(join(cwd, 'go'), '');
    expect((await running.ended()).code).toBe(0);
    expect(JSON.parse(running.stdout())).toEqual(['exited', 'mine\non\nend\n', 'later\n', 'again\n']);
  });
});

test('`process.exit` right after a start leaves nothing', async () => {
  const seconds = mark();
  for (let round = 0; round < 5; round++) {
    const running = host(`void bash('sleep ${seconds}'); setImmediate(() => process.exit(0));`);
    await running.ended();
  }
  await until(() => sleepers(seconds).length === 0);
});

test('the result of a command comes through the end of the event loop', async () => {
  const texts = await hostResult<string[]>(
    "const all = await Promise.all([1, 2, 3].map((n) => bash('sleep .2; echo ' + n)));\nconsole.log(JSON.stringify(all.map(({ stdout }) => stdout)));",
  );
  expect(texts).toEqual(['1\n', '2\n', '3\n']);
});
