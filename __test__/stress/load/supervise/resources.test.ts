import { describe, expect } from 'vitest';
import { hostResult, linuxTest } from '../../../support/index.ts';

interface Counts {
  descriptors: number;
  threads: number;
  zombies: number;
  children: number;
  helperDescriptors: number;
}

/** Threads for files that may be left: one, and another one that took over while it was about to wait. */
const THREADS = 2;

/**
 * Counts the resources of a host before and after some source, once all of it is warm and idle. A warm shell holds
 * descriptors here until it is used. An abort can leave two such shells, so two commands at a time run until they are
 * used up. It counts until no more than `spare` descriptors were added.
 */
function counts(source: string, spare = 0): Promise<[Counts, Counts]> {
  return hostResult(`
    import { readdirSync, readFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    const stat = (pid) => { try { const text = readFileSync('/proc/' + pid + '/stat', 'utf8'); const [state, ppid] = text.slice(text.lastIndexOf(')') + 2).split(' '); return { pid: Number(pid), state, ppid: Number(ppid) }; } catch { return undefined; } };
    const all = () => readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map(stat).filter(Boolean);
    const size = (path) => { try { return readdirSync(path).length; } catch { return 0; } };
    const count = () => {
      const list = all();
      const mine = list.filter(({ ppid }) => ppid === process.pid);
      const below = list.filter(({ ppid }) => mine.some(({ pid }) => pid === ppid));
      return {
        descriptors: size('/proc/self/fd'), threads: size('/proc/self/task'),
        zombies: [...mine, ...below].filter(({ state }) => state === 'Z').length,
        children: mine.length, helperDescriptors: mine.reduce((sum, { pid }) => sum + size('/proc/' + pid + '/fd'), 0),
      };
    };
    const settled = async (good) => { let now = count(); for (let n = 0; n < 1_000 && !good(now); n++) { await Promise.all([bash('true'), bash('true')]); await sleep(20); now = count(); } return now; };
    const run = async (n, make) => { for (let done = 0; done < n; done += 20) await Promise.all(Array.from({ length: 20 }, (_, i) => make(done + i))); };
    await run(200, () => bash('true'));
    await sleep(1_000);
    const before = await settled(({ zombies }) => zombies === 0);
    ${source}
    const after = await settled((now) => now.zombies === 0 && now.descriptors <= before.descriptors + ${spare} && now.helperDescriptors <= before.helperDescriptors && now.threads <= before.threads + ${THREADS});
    console.log(JSON.stringify([before, after]));
  `);
}

describe('Linux: nothing is used up', () => {
  linuxTest.each([
    ['500 × `true`', "await run(500, () => bash('true'));"],
    [
      '100 × both streams, stdin and an exit code',
      "await run(100, (n) => bash('cat; echo err >&2; exit ' + n, { stdin: 'x'.repeat(100_000) }));",
    ],
    ['100 × a time limit', "await run(100, () => bash('sleep 20 & sleep 20', { timeoutMs: 50, graceMs: 50 }));"],
    [
      '100 × an abort',
      "await run(100, () => { const c = new AbortController(); setTimeout(() => c.abort(), Math.random() * 30); return bash('setsid sleep 20 & sleep 20', { signal: c.signal }); });",
    ],
    [
      '100 × a start that fails',
      "await run(100, (n) => bash('true', [{ cwd: '/nowhere/at/all' }, { shell: '/nowhere/bash' }, { timeoutMs: -1 }, { env: { BIG: 'x'.repeat(200_000) } }][n % 4]).catch(() => {}));",
    ],
    [
      '40 × a file written out',
      "await run(40, () => bash('seq 20000', { spill: { allocate: () => ({ id: 'x', path: '/dev/null' }) } }));",
    ],
    ['40 × a long command', "await run(40, () => bash('true ' + 'x'.repeat(200_000)));"],
    [
      '40 × a listener that throws',
      "await run(40, () => bash('seq 1000', { onOutput: () => { throw new Error('x'); } }));",
    ],
    [
      '40 × a daemon that let go of everything',
      "await run(40, () => bash('setsid sleep 1 >/dev/null 2>&1 & :')); await sleep(1_500);",
    ],
    ['40 × a survivor on the pipes', "await run(40, () => bash('sleep 1 & :')); await sleep(1_500);"],
  ])('%s', async (_, source) => {
    const [before, after] = await counts(source);
    expect(after.zombies).toBe(0);
    expect(after.descriptors).toBeLessThanOrEqual(before.descriptors);
    expect(after.helperDescriptors).toBeLessThanOrEqual(before.helperDescriptors);
    expect(after.children).toBeLessThanOrEqual(before.children);
    expect(after.threads).toBeLessThanOrEqual(before.threads + THREADS);
  });

  linuxTest('10 worker threads, one after another', async () => {
    const source = `
      const { Worker } = await import('node:worker_threads');
      const { createRequire } = await import('node:module');
      const path = createRequire(process.cwd() + '/package.json').resolve('agent-bash');
      for (let n = 0; n < 10; n++) {
        const worker = new Worker("const { bash } = require(require('node:worker_threads').workerData); bash('echo hi')", { eval: true, execArgv: [], workerData: path });
        await new Promise((resolve) => worker.on('exit', resolve));
      }
    `;
    const [before, after] = await counts(source, 2);
    expect(after.zombies).toBe(0);
    expect(after.descriptors).toBeLessThanOrEqual(before.descriptors + 2);
    expect(after.threads).toBeLessThanOrEqual(before.threads + 4);
  });
});
