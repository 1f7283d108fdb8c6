import { warmShells } from 'agent-bash';
import { afterAll, describe, expect, test } from 'vitest';
import type { Way } from '../../support/index.ts';
import { type Case, cases } from './cases.ts';
import { mayStartCold } from './known.ts';
import { Place } from './place.ts';
import { type Outcome, plain } from './plain.ts';
import { compared, environment, evidences, outcomeOf, runIn, type WithEvidence } from './ways.ts';

const all = cases();
const places = new Map<Case, Place>();
const plainly = new Map<Case, Promise<Outcome>>();
let env: Promise<Record<string, string>> | undefined;

afterAll(() => {
  for (const place of places.values()) place.remove();
});

function placeOf(one: Case): Place {
  const place = places.get(one) ?? new Place();
  places.set(one, place);
  return place;
}

/** The result of a plain bash, requested once for all ways. */
function expected(one: Case): Promise<Outcome> {
  env ??= environment();
  const variables = env;
  const place = placeOf(one);
  const outcome = plainly.get(one) ?? place.use(async (cwd) => plain(one.script, { cwd, env: await variables }));
  plainly.set(one, outcome);
  return outcome;
}

/** Runs it in one way and holds it against the plain one. */
async function check(way: Way, one: Case, evidence: WithEvidence): Promise<void> {
  const wanted = compared(way, await expected(one));
  await placeOf(one).use(async (cwd) => {
    const result = await runIn(way, one.script, { cwd, evidence });
    const found = compared(way, outcomeOf(result));
    expect(found).toEqual(wanted);
    expect(result.notes).toEqual([]);
    expect(result.evidence === null).toBe(evidence === 'off');
  });
}

test('there are a few hundred cases, each with its own name', () => {
  expect(all.length).toBeGreaterThanOrEqual(300);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
});

describe.each(evidences)('the same as a plain `bash -c`, evidence %s', (evidence) => {
  // At most as many at once as `maxConcurrency` of vitest says.
  describe.concurrent('cold: stdout, stderr and exit code', () => {
    test.for(all)('$name', (one) => check('cold', one, evidence));
  });

  // One after the other: a count tells which command had the warm shell.
  describe.sequential('warm: stdout, stderr and exit code', () => {
    test.for(all)('$name', async (one) => {
      const before = warmShells().used;
      await check('warm', one, evidence);
      if (!mayStartCold(one.script)) expect(warmShells().used).toBe(before + 1);
    });
  });

  describe.concurrent('the only one of a session: stdout and exit code', () => {
    test.for(all)('$name', (one) => check('session', one, evidence));
  });
});
