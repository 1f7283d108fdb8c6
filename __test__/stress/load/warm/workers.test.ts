import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { bash, warmShells } from 'agent-bash';
import { describe, expect } from 'vitest';
import { CONFINED_BY_DEFAULT, confined, linuxTest, mark, settles, sleepers, until } from '../../../support/index.ts';
import { runsWarm, waitingShells, warmed } from '../../../warm/support.ts';

const entry = createRequire(import.meta.url).resolve('agent-bash');

function worker(source: string, env: NodeJS.ProcessEnv = process.env): Worker {
  const head =
    "const { workerData, parentPort } = require('node:worker_threads');\nconst { bash, warmUp, warmShells, BashSession } = require(workerData);\n";
  const first = confined ? `await import('${CONFINED_BY_DEFAULT}');` : '';
  return new Worker(`${head}(async () => {${first}${source}})();`, { eval: true, workerData: entry, env });
}

const message = async (one: Worker): Promise<unknown> => ((await once(one, 'message')) as [unknown])[0];

describe('worker threads', () => {
  linuxTest('Linux: each with its own environment, all of one pool', async () => {
    const workers = Array.from({ length: 4 }, (_, n) =>
      worker(
        `const wrong = [];
         for (let i = 0; i < 60; i++) {
           if (i % 5 === 0) await warmUp();
           const { stdout } = await bash('echo "$WORKER-' + i + '"');
           if (stdout !== process.env.WORKER + '-' + i + '\\n') wrong.push([i, stdout]);
         }
         parentPort.postMessage(wrong);`,
        { ...process.env, WORKER: `w${n}` },
      ),
    );
    const messages = Promise.all(workers.map(message));
    const mine = (async () => {
      for (let i = 0; i < 60; i++) expect((await bash('echo "${WORKER-none}"')).stdout).toBe('none\n');
    })();
    for (const wrong of await settles(messages, 40_000)) expect(wrong).toEqual([]);
    await mine;
    await Promise.all(workers.map((one) => one.terminate()));
    await until(() => waitingShells().length <= 2 && warmShells().waiting <= 2, 'few shells wait');
  });

  linuxTest('Linux: one that ends leaves the shells of the others', async () => {
    const one = worker("await warmUp(); await bash('true'); parentPort.postMessage(1);");
    await once(one, 'message');
    await warmed();
    await one.terminate();
    expect((await runsWarm('echo on')).stdout).toBe('on\n');
  });

  linuxTest('Linux: one that ends while its warm command and its session run takes them with it', async () => {
    const seconds = mark();
    const one = worker(
      `await warmUp(); bash('sleep ${seconds}; :'); const s = new BashSession(); await s.run('true'); s.run('sleep ${seconds}; :'); s.run('echo queued');`,
    );
    await until(() => sleepers(seconds).length === 2);
    await one.terminate();
    await until(() => sleepers(seconds).length === 0);
    expect((await runsWarm('echo on')).stdout).toBe('on\n');
  });

  linuxTest('Linux: one that ends while shells are on their way', async () => {
    for (let n = 0; n < 10; n++) {
      const one = worker("parentPort.postMessage(1); warmUp(); bash('true'); warmUp({ merge: true });");
      await once(one, 'message');
      await one.terminate();
    }
    expect((await settles(runsWarm('echo on'))).stdout).toBe('on\n');
    expect(waitingShells().length).toBeLessThanOrEqual(2);
  });

  linuxTest('Linux: sessions of several are apart', async () => {
    const workers = Array.from({ length: 4 }, (_, n) =>
      worker(
        `const s = new BashSession(); await s.run('x=${n}; cd /'); let out = ''; for (let i = 0; i < 20; i++) out += (await s.run('echo "$x$PWD"')).stdout; parentPort.postMessage(out);`,
      ),
    );
    for (const [n, text] of (await Promise.all(workers.map(message))).entries())
      expect(text).toBe(`${n}/\n`.repeat(20));
  });
});
