import { readdirSync, readlinkSync } from 'node:fs';
import { bash, warmShells, warmUp } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { confined } from '../../../support/confined/index.ts';
import {
  folder,
  host,
  hostResult,
  kill,
  linuxTest,
  processOf,
  shimsOf,
  supervisorOf,
  until,
  zombiesOf,
} from '../../../support/index.ts';
import { gone, runsWarm, waitingShells, warmed } from '../../../warm/support.ts';

/** At most so many shells wait in one process, or in each world of its confined commands. */
const MOST = 2;

/** At most so many wait in this process. Its commands have two directories, and so two worlds if they are confined. */
const HERE = confined ? 2 * MOST : MOST;

/** The names of helpers that a world has besides its shims. */
const OF_WORLDS = /-(init|gate|list)/;

const shims = () => shimsOf(supervisorOf()?.pid ?? 0).filter(({ name }) => !OF_WORLDS.test(name));

const descriptors = (pid: number | 'self') =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });

describe('their number', () => {
  linuxTest('Linux: commands of many kinds, one after another', async () => {
    for (let n = 0; n < 40; n++) {
      await warmUp({ env: { N: String(n % 13) } });
      expect((await bash('echo $N', { env: { N: String(n % 13) } })).stdout).toBe(`${n % 13}\n`);
      expect(waitingShells().length).toBeLessThanOrEqual(HERE);
      expect(warmShells().waiting).toBeLessThanOrEqual(HERE);
    }
  });

  linuxTest('Linux: 50 that are asked for at once', async () => {
    const asked = await Promise.all(Array.from({ length: 50 }, (_, n) => warmUp({ env: { N: String(n) } })));
    expect(asked.length).toBe(50);
    await until(() => waitingShells().length <= HERE, 'few shells wait');
    expect(warmShells().waiting).toBeLessThanOrEqual(HERE);
    await until(() => shims().length <= HERE, 'few shims are kept');
  });

  linuxTest('Linux: 1,000 commands at once: each right, and few shells wait afterwards', async () => {
    const kinds = [{}, { merge: true }, { env: { A: 'a' } }, { cwd: folder() }, { stdin: 'x' }];
    const running = Array.from({ length: 1_000 }, (_, n) =>
      bash(`echo ${n}; exit ${n % 256}`, kinds[n % kinds.length]),
    );
    for (const [n, { stdout, exitCode }] of (await Promise.all(running)).entries())
      expect([stdout, exitCode]).toEqual([`${n}\n`, n % 256]);
    await until(() => waitingShells().length <= HERE, 'few shells wait');
    expect(await runsWarm('echo on')).toMatchObject({ exitCode: 0, stdout: 'on\n' });
  });

  linuxTest('Linux: 200 in a row, without a pause and with one', async () => {
    for (let n = 0; n < 200; n++) {
      if (n % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
      expect(await bash(`echo ${n}`)).toMatchObject({ exitCode: 0, stdout: `${n}\n`, stderr: '', notes: [] });
    }
    expect(waitingShells().length).toBeLessThanOrEqual(HERE);
  });

  linuxTest('Linux: 500 warm commands leave no descriptor, no zombie and no process', async () => {
    const counts = async () => {
      await warmed();
      await until(() => shims().length <= HERE, 'few shims are kept');
      const pids = ['self', supervisorOf()?.pid ?? 0] as const;
      const ofShims = shims().map(({ pid }) => descriptors(pid).length);
      return [...pids.map((pid) => descriptors(pid).length), Math.max(...ofShims)];
    };
    for (let n = 0; n < 20; n++) await runsWarm('true');
    const before = await counts();
    for (let n = 0; n < 500; n++) expect((await runsWarm(n % 2 ? 'true' : '/bin/true')).exitCode).toBe(0);
    await until(() => zombiesOf(process.pid).length === 0, 'no zombie');
    const after = await counts();
    for (const [at, count] of after.entries()) expect(count).toBeLessThanOrEqual((before[at] ?? 0) + 8);
    expect(waitingShells().length).toBeLessThanOrEqual(HERE);
  });
});

describe('with few descriptors', () => {
  linuxTest('Linux: a host with `ulimit -n 64`', async () => {
    const outcome = await hostResult<[string, string, number]>(
      `import { warmUp } from 'agent-bash';
       let last = '';
       for (let n = 0; n < 100; n++) { if (n % 10 === 0) await warmUp({ env: { N: String(n % 3) } }); last = (await bash('echo ' + n)).stdout; }
       const all = await Promise.all(Array.from({ length: 200 }, (_, n) => bash('echo ' + n)));
       console.log(JSON.stringify([last, all.at(-1).stdout, all.filter(({ exitCode }) => exitCode === 0).length]));`,
      { before: 'ulimit -n 64' },
    );
    expect(outcome).toEqual(['99\n', '199\n', 200]);
  });
});

describe('gone with the host', () => {
  const source = (end: string) =>
    `import { warmShells, warmUp } from 'agent-bash';
     await warmUp(); await bash('true');
     while (warmShells().waiting < ${MOST}) {
       // A world has a second shim once two commands have run at the same time.
       await Promise.all([bash('sleep .1'), bash('sleep .1')]); await warmUp(); await warmUp({ merge: true });
     }
     ${end}
     console.log('ready');`;
  // The host ends by itself once this test has seen its processes.
  const asked = (end: string) => `setInterval(() => {}, 1000); process.once('SIGUSR2', () => { ${end} });`;

  linuxTest.each([
    ['SIGKILL', 'setInterval(() => {}, 1000);', 'SIGKILL'],
    ['SIGTERM', 'setInterval(() => {}, 1000);', 'SIGTERM'],
    ['process.exit', asked('process.exit(3);'), 'SIGUSR2'],
    ['an uncaught exception', asked("throw new Error('uncaught');"), 'SIGUSR2'],
    ['process.abort', asked('process.abort();'), 'SIGUSR2'],
  ] as const)('Linux: %s: no process of ours is left within 2 s', async (_, end, signal) => {
    const running = host(source(end), { before: 'ulimit -c 0' });
    await running.says(/ready/);
    const supervisor = supervisorOf(running.pid)?.pid ?? 0;
    const ours = [
      supervisor,
      ...shimsOf(supervisor).map(({ pid }) => pid),
      ...waitingShells(running.pid).map(({ pid }) => pid),
    ];
    expect(waitingShells(running.pid).length).toBe(MOST);
    kill(running.pid, signal);
    await running.ended();
    await gone(ours, 2_000);
  });

  linuxTest('Linux: a host that ends by itself: no process is left', async () => {
    const running = host(source(''));
    await running.says(/ready/);
    const { code } = await running.ended();
    expect(code).toBe(0);
    await until(
      () => processOf(running.pid) === undefined && waitingShells(running.pid).length === 0,
      'all is gone',
      2_000,
    );
  });
});

describe('the event loop', () => {
  test.each([
    ['a shell that waits', 'await warmUp();'],
    ['one that is on its way', 'void warmUp();'],
    ['commands before', "await bash('true'); await bash('true'); await bash('true');"],
    ['a session', "const s = new BashSession(); await s.run('x=1'); await s.run('x=2');"],
  ])('%s does not hold it', async (_, source) => {
    const took = await hostResult<number>(
      `import { warmUp, BashSession } from 'agent-bash';
       void warmUp; void BashSession;
       ${source}
       const start = performance.now();
       process.on('exit', () => console.log(JSON.stringify(performance.now() - start)));`,
    );
    expect(took).toBeLessThan(1_000);
  });
});

describe('turned off', () => {
  linuxTest('Linux: AGENT_BASH_WARM=0: no shell ever waits', async () => {
    const outcome = await hostResult<[boolean, object]>(
      `import { warmUp, warmShells } from 'agent-bash';
       const asked = await warmUp();
       for (let n = 0; n < 10; n++) await bash('true');
       await new Promise((resolve) => setTimeout(resolve, 50));
       console.log(JSON.stringify([asked, warmShells()]));`,
      { env: { AGENT_BASH_WARM: '0' } },
    );
    expect(outcome).toEqual([false, { waiting: 0, used: 0, stale: 0 }]);
  });

  linuxTest('Linux: `warm: false`: no shell ever waits', async () => {
    const outcome = await hostResult<[boolean, object]>(
      `import { warmUp, warmShells } from 'agent-bash';
       const asked = await warmUp({ warm: false });
       for (let n = 0; n < 10; n++) await bash('true', { warm: false });
       await new Promise((resolve) => setTimeout(resolve, 50));
       console.log(JSON.stringify([asked, warmShells()]));`,
    );
    expect(outcome).toEqual([false, { waiting: 0, used: 0, stale: 0 }]);
  });

  linuxTest('Linux: `warm: false` does not take the one that waits, nor end it', async () => {
    const shell = await warmed();
    const before = warmShells();
    const { pid } = await bash('true', { warm: false });
    expect(pid).not.toBe(shell.pid);
    expect(warmShells().used).toBe(before.used);
    expect((await runsWarm('echo hi')).stdout).toBe('hi\n');
  });

  test.each([1, 'no', null])('`warm: %o` is no option', async (warm) => {
    await expect(bash('true', { warm: warm as never })).rejects.toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  });

  test.each([
    [{ cwd: '/nowhere/at/all' }, 'ERR_BASH_CWD_NOT_FOUND'],
    [{ shell: '/nowhere/bash' }, 'ERR_BASH_SHELL_NOT_FOUND'],
    [{ timeoutMs: -1 }, 'ERR_BASH_INVALID_ARG'],
    [{ env: { A: 1 as never } }, 'ERR_BASH_INVALID_ARG'],
  ])('`warmUp(%o)` rejects as `bash` does', async (options, code) => {
    await expect(warmUp(options)).rejects.toMatchObject({ code });
  });
});
