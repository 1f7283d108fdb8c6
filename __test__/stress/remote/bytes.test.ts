import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { bash } from 'agent-bash';
import { expect, vi } from 'vitest';
import { linuxTest } from '../../support/index.ts';
import { relayed } from '../../support/relay.ts';

const MB = 1_000_000;
/** Bytes of output, and the most that may cross the link for them. */
const [OUTPUT, CROSSED] = [80 * MB, 3 * MB];
/** Bytes that the memory of this process may grow by meanwhile. */
const GROWTH = 32 * MB;
/** Most bytes of a heartbeat. */
const BEAT = 64;

vi.setConfig({ testTimeout: 300_000 });

/** The most memory that this process takes while `action` runs, over what it takes before. */
async function grown<T>(action: () => Promise<T>): Promise<[T, number]> {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  try {
    return [await action(), most - before];
  } finally {
    clearInterval(timer);
  }
}

linuxTest('80 MB of output without a listener stay on the target', async () => {
  const { target, relay } = await relayed();
  await bash('seq 100000', { target });
  const before = (await relay.counts()).bytes;
  const line = 'x'.repeat(99);
  const [result, memory] = await grown(() => bash(`yes ${line} | head -c ${OUTPUT}`, { target }));
  const crossed = (await relay.counts()).bytes - before;
  expect(result.truncation.stdout).toMatchObject({ totalBytes: OUTPUT });
  expect(crossed).toBeLessThan(CROSSED);
  expect(memory).toBeLessThan(GROWTH);
  const there = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${target.info.pid}/status`, 'utf8'))?.[1];
  console.log(JSON.stringify({ crossed, grownHere: memory, mostThereKiB: Number(there) }));
});

linuxTest('an idle link carries heartbeats only', async () => {
  const [alive, seconds] = [1_500, 10];
  const { target, relay } = await relayed({ aliveMs: alive });
  await bash('true', { target });
  const before = (await relay.counts()).bytes;
  // Time passes: it is what the heartbeats depend on.
  await sleep(seconds * 1_000);
  const bytes = (await relay.counts()).bytes - before;
  // One each third of the time, in both directions.
  const beats = (2 * seconds * 1_000) / (alive / 3);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan((beats + 2) * BEAT);
  const byDefault = Math.round((bytes / beats) * 2 * (60 / 10));
  console.log(`${bytes} bytes in ${seconds} s, so ${byDefault} a minute with the default of aliveMs`);
});
