// Runs 5,000 commands of all kinds in one process and counts leaked resources.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atRest, withTemporary } from './held.mjs';

/** Number of concurrent commands. */
const WIDTH = 24;

/** One command of each kind. `n` makes them differ. Each returns whether its result was right. */
const KINDS = [
  async ({ bash }) => (await bash('true')).exitCode === 0,
  async ({ bash }, n) => (await bash(`echo ${n}; echo e >&2; exit ${n % 200}`)).exitCode === n % 200,
  async ({ bash }) => {
    const { stdout } = (await bash('seq 20000')).truncation;
    // The output file stays for its reader, by design.
    rmSync(stdout.path);
    return stdout.totalLines === 20_000;
  },
  async ({ bash }) => {
    const { truncation } = await bash('cat', { stdin: 'x'.repeat(200_000), spill: false });
    return truncation.stdout.totalBytes === 200_000;
  },
  async ({ bash }) => (await bash('sleep 20 & sleep 20', { timeoutMs: 60, graceMs: 50 })).exitCode === 124,
  async ({ bash }, n) => {
    const signal = AbortSignal.timeout(1 + (n % 60));
    return (await bash('setsid sleep 20 & sleep 20', { signal, graceMs: 100 })).status === 'aborted';
  },
  async ({ bash }) =>
    bash('true', { cwd: '/nowhere' }).then(
      () => false,
      ({ code }) => code === 'ERR_BASH_CWD_NOT_FOUND',
    ),
  async ({ bash }) => (await bash('(sleep .3; echo late) & echo hi')).exitCode === 0,
  async ({ registry }, n) => {
    const { id } = await registry.start(`echo hi; exit ${n % 200}`);
    const { task, output } = await registry.wait(id);
    return output === 'hi\n' && task.exitCode === n % 200;
  },
  async ({ registry }) => {
    const { id } = await registry.start('setsid sleep 20 & echo up; sleep 20');
    const { matched } = await registry.wait(id, { pattern: 'up' });
    return matched && (await registry.kill(id)).task.state === 'killed';
  },
  async ({ registry }) => {
    const { id } = await registry.start('sleep 20', { timeoutMs: 60 });
    return (await registry.wait(id)).task.exitCode === 124;
  },
  async ({ registry }) => {
    const { id } = await registry.start('seq 30000');
    const stop = AbortSignal.timeout(1);
    await registry.wait(id, { pattern: 'never', signal: stop });
    await registry.check(id);
    return (await registry.wait(id)).task.exitCode === 0;
  },
  async ({ bash, registry }) => {
    const moved = await bash('echo a; sleep .2; echo b; exit 9', { registry, timeoutMs: 60 });
    if (moved.status !== 'backgrounded') return moved.exitCode === 9;
    return (await registry.wait(moved.background.id)).task.exitCode === 9;
  },
  async ({ bash, registry }) => {
    const { survivors } = await bash('sleep 20 & echo hi', { registry });
    const id = survivors.find(({ taskId }) => taskId)?.taskId;
    return id !== undefined && (await registry.kill(id)).task.state === 'killed';
  },
];

/** Runs `count` commands, `WIDTH` at a time, in registries that are closed after some hundred. */
async function run(count) {
  const { bash, BackgroundRegistry } = await import('agent-bash');
  const wrong = [];
  for (let from = 0; from < count; from += 280) {
    const dir = (from / 280) % 2 ? mkdtempSync(join(tmpdir(), 'agent-bash-soak-')) : undefined;
    const registry = new BackgroundRegistry({ maxTasks: 500, ...(dir && { dir }) });
    let next = from;
    const lane = async () => {
      while (next < Math.min(count, from + 280)) {
        const n = next++;
        const right = await KINDS[n % KINDS.length]({ bash, registry }, n).catch((error) => error);
        if (right !== true) wrong.push(`kind ${n % KINDS.length}: ${right?.message ?? 'a wrong result'}`);
      }
    };
    await Promise.all(Array.from({ length: WIDTH }, lane));
    await registry.killAll();
    await registry.close();
    if (dir) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
  return wrong;
}

/**
 * Brings V8's young generation to its full size of about 30 MB, which it keeps. Otherwise it would grow at some point
 * of a long run and look like a leak.
 */
function stretchHeap() {
  for (let round = 0; round < 40; round++) Array.from({ length: 60_000 }, (_, n) => ({ n, text: `${round} ${n}` }));
}

/**
 * Runs `warmUp` commands, then `count` measured ones. Returns the resources before and after, and the wrong results.
 */
export function soak(warmUp, count) {
  return withTemporary(async () => {
    const early = await run(warmUp);
    stretchHeap();
    await sleep(1_000);
    const before = await atRest(({ zombies }) => zombies === 0);
    const started = performance.now();
    const wrong = [...early, ...(await run(count))];
    const total = performance.now() - started;
    const keys = Object.keys(before).filter((key) => key !== 'resident' && key !== 'heap');
    const after = await atRest((now) => keys.every((key) => key === 'files' || now[key] <= before[key]));
    return { before, after, total, wrong };
  });
}
