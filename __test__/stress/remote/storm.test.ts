import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { expect, vi } from 'vitest';
import { linuxTest, sleepers, state, until } from '../../support/index.ts';
import { type Relayed, relayed, relayedSsh } from '../../support/relay.ts';
import { sshTest } from '../../support/ssh.ts';
import { checkNotes, inSession, Load } from './load.ts';
import { counted, filesOf, inside, sameAs, shown, type Traces, traces } from './traces.ts';
import { inTerminal } from './typing.ts';
import { ALIVE, table, weather } from './weather.ts';

/** How many things go wrong: AGENT_BASH_STORM_FAULTS, or 220. AGENT_BASH_STORM_SEED repeats a storm. */
const faults = Number(process.env.AGENT_BASH_STORM_FAULTS ?? 220);
const overSsh = Math.ceil(faults / 4);
const seed = Number(process.env.AGENT_BASH_STORM_SEED ?? randomInt(1, 2 ** 31));

/** Jobs at a time, beside a session and a terminal. */
const WORKERS = 6;
/** Time in ms in which all is gone after `close()`, beside a round trip. */
const GONE = 2_000;

vi.setConfig({ testTimeout: 1_200_000 });

/** Keeps what happens to a target, in order. */
function events({ target }: Relayed): string[] {
  const heard: string[] = [];
  for (const name of ['disconnected', 'reconnected', 'lost', 'closed'] as const) {
    target.on(name, () => void heard.push(name));
  }
  return heard;
}

/** Checks that each command ran as often as it had to. */
function checkLog(load: Load, home: string): void {
  const times = new Map<number, number>();
  for (const line of readFileSync(join(home, 'log'), 'utf8').trimEnd().split('\n')) {
    times.set(Number(line), (times.get(Number(line)) ?? 0) + 1);
  }
  const wrong = [...load.logged].filter(([n, allowed]) => !allowed.includes(times.get(n) ?? 0));
  expect(wrong.map(([n]) => [n, times.get(n) ?? 0])).toStrictEqual([]);
  expect([...load.exits.values()].filter((count) => count !== 1)).toStrictEqual([]);
}

/** Runs the load through the weather. Returns what has gone wrong, by kind and phase. */
async function through(place: Relayed, load: Load, faults: number) {
  const workers = [inSession(load), inTerminal(load), ...Array.from({ length: WORKERS }, () => load.work())];
  const working = workers.map((worker) =>
    worker.catch((error) => {
      load.over = true;
      throw error;
    }),
  );
  const counts = await weather(place, seed, faults, () => load.over).finally(() => {
    load.over = true;
  });
  await Promise.allSettled(working);
  await Promise.all(working);
  return counts;
}

/** Returns what this process has once it has done all of this and has closed the target. */
async function usual(reach: typeof relayed): Promise<Traces> {
  const { target, relay } = await reach();
  const load = new Load(target, seed);
  await load.each();
  await load.registry.close();
  await target.close();
  await relay.stop();
  return traces();
}

/** Checks that nothing is lost, nothing runs twice, and nothing is left. */
async function storm(reach: typeof relayed, faults: number): Promise<void> {
  const before = await usual(reach);
  const place = await reach({ aliveMs: ALIVE, connectTimeoutMs: 6_000 });
  const { target, home, relay } = place;
  const heard = events(place);
  const load = new Load(target, seed);
  const start = performance.now();
  const counts = await through(place, load, faults);
  const seconds = Math.round((performance.now() - start) / 1_000);

  await state(target, 'connected', 60_000);
  expect(await bash('echo quiet', { target })).toMatchObject({ stdout: 'quiet\n' });
  checkLog(load, home);
  const interrupted = checkNotes(load);
  expect(interrupted, 'commands that saw a cut').toBeGreaterThan(0);
  expect(heard).toStrictEqual(heard.map((_, index) => (index % 2 === 0 ? 'disconnected' : 'reconnected')));
  await until(() => load.sleeping.flatMap(sleepers).length === 0, 'what was ended is gone');
  await relay.release();
  await load.registry.close();
  const closing = performance.now();
  await target.close();
  const closed = performance.now() - closing;
  await until(() => inside(home).length === 0, 'nothing is left there').catch((error: Error) => {
    throw new Error(`${error.message}\n${shown(home)}`);
  });
  const gone = performance.now() - closing;
  expect(gone, 'the time until all is gone').toBeLessThan(GONE + target.info.rttMs + 500);
  expect(filesOf(home, /^(log|typed|tasks\/.*)$/)).toStrictEqual([]);
  await relay.stop();
  await sameAs(before);
  const figures = { seconds, cuts: load.cuts.length, interrupted, closed: Math.round(closed), gone: Math.round(gone) };
  const here = { before: counted(before), after: counted(traces()) };
  console.log(`seed ${seed}\n${table(counts)}\n${JSON.stringify({ ...figures, ...here, ...load.counts })}`);
}

linuxTest(`a storm of ${faults} faults loses nothing and repeats nothing: seed ${seed}`, () => storm(relayed, faults));

sshTest(`a storm of ${overSsh} faults of ssh loses nothing and repeats nothing: seed ${seed}`, () =>
  storm(relayedSsh, overSsh),
);
