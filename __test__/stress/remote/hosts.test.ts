import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { randomFrom } from '../../receipt/generated.ts';
import {
  addressOf,
  childrenOf,
  folder,
  host,
  kill,
  linuxTest,
  mark,
  mentioning,
  sleepers,
  until,
} from '../../support/index.ts';
import { filesOf, inside, shown } from './traces.ts';

/** How many hosts are killed: AGENT_BASH_HOSTS, or 100. AGENT_BASH_HOSTS_SEED repeats a run. */
const hosts = Number(process.env.AGENT_BASH_HOSTS ?? 100);
const seed = Number(process.env.AGENT_BASH_HOSTS_SEED ?? randomInt(1, 2 ** 31));

/** Hosts at a time. */
const SIDE_BY_SIDE = 3;
/** How long the target works on without a link, in ms. */
const LEASE = 2_000;
/** Time in ms in which all is gone after a goodbye, beside a round trip, and after a lease. */
const [GOODBYE, AFTER_LEASE] = [2_500, 3_000];

vi.setConfig({ testTimeout: 1_200_000 });

/** A program that connects, and starts one of each that ends with its host. */
const source = (home: string, seconds: string) => `
  import { BackgroundRegistry, BashSession, connect, PtySession } from 'agent-bash';
  console.log('up');
  const target = await connect(${JSON.stringify({ ...addressOf(home), detachMs: LEASE })});
  console.log('connected');
  void bash('sleep ${seconds}', { target });
  void bash('(setsid sleep ${seconds} &); env -i setsid --wait "$(command -v sleep)" ${seconds}', { target, onOutput() {} });
  void new BashSession({ target }).run('setsid sleep ${seconds} & sleep ${seconds}');
  void new BackgroundRegistry({ target }).start('sleep ${seconds}');
  void new PtySession({ target }).start('sleep ${seconds}');
  setInterval(() => {}, 1_000);`;

/** Kills one host, with its helpers or without. Returns how far it was, and the time until all was gone. */
async function round(random: (below: number) => number, home: string): Promise<{ phase: string; gone: number }> {
  const seconds = mark();
  const one = host(source(home, seconds));
  await one.says(/up/, 40_000);
  // The random moment is the point here, so there is no event to await.
  await sleep(random(1_500));
  const running = sleepers(seconds).length > 0;
  const phase = running ? 'running' : one.stdout().includes('connected') ? 'connected' : 'connecting';
  const withHelpers = random(4) === 0;
  const helpers = withHelpers ? childrenOf(one.pid) : [];
  const closed = once(one.process, 'close');
  one.process.kill('SIGKILL');
  for (const { pid } of helpers) kill(pid, 'SIGKILL');
  const killed = performance.now();
  const left = () => [...inside(home), ...sleepers(seconds), ...mentioning(`HOME=${home}`).map(({ pid }) => pid)];
  await until(() => left().length === 0, 'nothing is left', 30_000).catch((error: Error) => {
    throw new Error(`${error.message} of ${phase} ${withHelpers}\n${shown(home)}\n${JSON.stringify(mentioning(home))}`);
  });
  const gone = performance.now() - killed;
  await closed;
  expect(filesOf(home, /^$/), `files of ${phase}`).toStrictEqual([]);
  expect(gone, `${phase}, ${withHelpers ? 'with' : 'without'} helpers`).toBeLessThan(
    withHelpers ? LEASE + AFTER_LEASE : GOODBYE,
  );
  return { phase: withHelpers ? `${phase}, with helpers` : phase, gone };
}

linuxTest(`${hosts} hosts that are killed leave nothing: seed ${seed}`, async () => {
  const times = new Map<string, number[]>();
  const lane = async (number: number) => {
    const random = randomFrom(seed + number);
    const home = folder();
    for (let n = number; n < hosts; n += SIDE_BY_SIDE) {
      const { phase, gone } = await round(random, home).catch((error: Error) => {
        throw new Error(`host ${n}: ${error.message}`, { cause: error });
      });
      times.set(phase, [...(times.get(phase) ?? []), Math.round(gone)]);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, (_, number) => lane(number)));
  const lines = [...times].map(([phase, all]) => `${phase}: ${all.length}, at most ${Math.max(...all)} ms`);
  console.log(`seed ${seed}\n${lines.toSorted().join('\n')}`);
});
