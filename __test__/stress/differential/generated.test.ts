import { warmShells } from 'agent-bash';
import { afterAll, describe, expect, test } from 'vitest';
import type { Way } from '../../support/index.ts';
import { files, script } from './generator/script.ts';
import { differenceOf, mayStartCold } from './known.ts';
import { Place } from './place.ts';
import { type Outcome, plainWithin } from './plain.ts';
import {
  compared,
  environment,
  evidences,
  firstDifference,
  options,
  outcomeOf,
  runIn,
  type WithEvidence,
} from './ways.ts';

const seed = Number(process.env.AGENT_BASH_SEED ?? 1);
const count = Number(process.env.AGENT_BASH_SCRIPTS ?? 1500);
const batch = 500;
const limitMs = 2_000;

/** As many run at once, each in its own. */
const places = Array.from({ length: 4 }, () => new Place(files));
const placeOf = (index: number) => places[index % places.length] as Place;

/** Every other script is watched for its evidence. */
const evidenceOf = (index: number) => evidences[Math.floor(index / places.length) % 2] as WithEvidence;

/** A broken script can call a function from itself. */
const env = { ...options.env, FUNCNEST: '40' };
let variables: Promise<Record<string, string>> | undefined;
const plainly = new Map<number, Promise<Outcome | undefined>>();

const tally = {
  unstable: new Set<number>(),
  seldom: [] as string[],
  known: new Map<string, number>(),
  run: { cold: 0, warm: 0, session: 0 },
};

/** The share of scripts that show a difference, explained or not. */
function share(way: Way): number {
  const differing = [...tally.known]
    .filter(([what]) => what.startsWith(`${way}:`))
    .reduce((sum, [, times]) => sum + times, 0);
  return differing / Math.max(tally.run[way], 1);
}

afterAll(() => {
  for (const place of places) place.remove();
  const known = [...tally.known].map(([what, times]) => `\n  ${times} × ${what}`).join('');
  console.log(
    `AGENT_BASH_SEED=${seed} AGENT_BASH_SCRIPTS=${count}: ${tally.unstable.size} scripts left out, since a plain bash does not end them alike each time; ` +
      `${tally.seldom.length} differences that did not come again \n${tally.seldom.join('\n')}${known}`,
  );
  expect(share('cold')).toBe(0);
  expect(share('warm')).toBeLessThanOrEqual(0.002);
  expect(share('session')).toBeLessThanOrEqual(0.02);
});

async function runPlain(index: number): Promise<Outcome | undefined> {
  variables ??= environment();
  const all = { ...(await variables), FUNCNEST: '40' };
  return placeOf(index).use((cwd) => plainWithin(limitMs, script(seed, index), { cwd, env: all }));
}

/** The result of a plain bash, requested once for all ways. */
function expected(index: number): Promise<Outcome | undefined> {
  const outcome = plainly.get(index) ?? runPlain(index);
  plainly.set(index, outcome);
  return outcome;
}

async function outcomeIn(way: Way, index: number): Promise<Outcome> {
  return placeOf(index).use(async (cwd) =>
    outcomeOf(
      await runIn(way, script(seed, index), { cwd, env, timeoutMs: 10 * limitMs, evidence: evidenceOf(index) }),
    ),
  );
}

interface Fault {
  script: string;
  /** The first lines that differ. */
  difference: string;
  /** Both results, with the number of the script. */
  told: string;
}

/** Whether a script may run something beside something else. */
const parallel = /[|&]|[<>]\(|coproc/;

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The compared parts of a result. Lines that several processes write to stderr may come in any order. */
function looked(way: Way, index: number, outcome: Outcome): Partial<Outcome> {
  const found = compared(way, outcome);
  if (found.stderr === undefined || !parallel.test(script(seed, index))) return found;
  return { ...found, stderr: found.stderr.split('\n').sort().join('\n') };
}

/**
 * Compares one script with a plain bash. A difference counts if it occurs each time while the plain result stays the
 * same.
 */
async function faultOf(way: Way, index: number): Promise<Fault | undefined> {
  const wanted = await expected(index);
  tally.run[way]++;
  if (wanted === undefined || tally.unstable.has(index)) {
    tally.unstable.add(index);
    return undefined;
  }
  const first = looked(way, index, await outcomeIn(way, index));
  if (same(first, looked(way, index, wanted))) return undefined;
  let found = first;
  for (let again = 0; again < 3; again++) {
    const other = await runPlain(index);
    if (other === undefined || !same(looked(way, index, other), looked(way, index, wanted))) {
      tally.unstable.add(index);
      return undefined;
    }
    found = looked(way, index, await outcomeIn(way, index));
    // Parallel processes may end in another order. Without them a single difference counts.
    if (parallel.test(script(seed, index)) && same(found, looked(way, index, wanted))) {
      tally.seldom.push(`${way} ${index}, ${firstDifference(looked(way, index, wanted), first)}`);
      return undefined;
    }
  }
  const text = script(seed, index);
  const difference = firstDifference(looked(way, index, wanted), first);
  return { script: text, difference, told: `script ${index}\n${text}\n${difference}` };
}

/** Runs the action for each index, in as many lanes as there are directories. No two lanes share a directory. */
async function inLanes<T>(indices: number[], action: (index: number) => Promise<T>): Promise<T[]> {
  const lanes = places.map(async (_, lane) => {
    const found: T[] = [];
    for (const index of indices.filter((one) => one % places.length === lane)) found.push(await action(index));
    return found;
  });
  return (await Promise.all(lanes)).flat();
}

/** All differences of a batch. */
async function faults(way: Way, indices: number[]): Promise<Fault[]> {
  return (await inLanes(indices, (index) => faultOf(way, index))).filter((fault) => fault !== undefined);
}

/**
 * Runs the scripts one after the other, so that a count tells which had the warm shell. `cold` had none and should have
 * had one.
 */
async function warmFaults(indices: number[]): Promise<{ found: Fault[]; cold: number[] }> {
  await inLanes(indices, expected);
  const found: Fault[] = [];
  const cold: number[] = [];
  for (const index of indices) {
    const before = warmShells().used;
    const fault = await faultOf('warm', index);
    if (fault) found.push(fault);
    const was = tally.unstable.has(index) || mayStartCold(script(seed, index)) || warmShells().used > before;
    if (!was) cold.push(index);
  }
  return { found, cold };
}

/** Removes the explained differences, and counts them. */
function unexplained(way: Way, all: Fault[]): string[] {
  const rest = all.filter((fault) => {
    const known = differenceOf(way, fault.script, fault.difference);
    if (known) tally.known.set(`${way}: ${known.what}`, (tally.known.get(`${way}: ${known.what}`) ?? 0) + 1);
    return known === undefined;
  });
  return rest.map(({ told }) => told);
}

function range(first: number, end: number): number[] {
  return Array.from({ length: Math.max(0, Math.min(end, count) - first) }, (_, i) => first + i);
}

const batches = range(0, Math.ceil(count / batch)).map((n) => [n * batch, (n + 1) * batch] as const);

describe(`scripts made at random, seed ${seed}: the same as a plain \`bash -c\``, { timeout: 300_000 }, () => {
  test('cold: stdout, stderr and exit code of the first ones', async () => {
    expect(unexplained('cold', await faults('cold', range(0, batch / 2)))).toEqual([]);
  });

  test.each(batches)('warm: stdout, stderr and exit code from %i to %i', async (first, end) => {
    const indices = range(first, end);
    const { found, cold } = await warmFaults(indices);
    expect(unexplained('warm', found)).toEqual([]);
    expect(cold).toEqual([]);
    expect(indices.filter((index) => mayStartCold(script(seed, index))).length).toBeLessThan(0.3 * indices.length);
    expect(indices.filter((index) => tally.unstable.has(index)).length).toBeLessThan(0.05 * indices.length);
  });

  test.each(batches)('the only one of a session: stdout and exit code from %i to %i', async (first, end) => {
    const indices = range(first, end);
    const found = await faults('session', indices);
    expect(unexplained('session', found)).toEqual([]);
  });
});
