import { expect, test } from 'vitest';
import { hostResult } from '../../../support/index.ts';

/** Bytes of allocations by which two rounds of the same work may differ, per run. */
const NOISE = 1_000;

test('without an instrumentation a run allocates no more than if there had never been one', async () => {
  const found = await hostResult<Record<'never' | 'instrumented' | 'undone', number>>(
    `
    import { instrument } from 'agent-bash/otel';
    const RUNS = 100;
    // Nothing is collected within a round, so the heap grows by what a run allocates.
    const round = async () => {
      gc();
      const before = process.memoryUsage().heapUsed;
      for (let run = 0; run < RUNS; run++) await bash('true');
      return (process.memoryUsage().heapUsed - before) / RUNS;
    };
    // Other work of the process can only add to a round.
    const least = async () => {
      const rounds = [];
      for (let i = 0; i < 5; i++) rounds.push(await round());
      return Math.min(...rounds);
    };
    await round();
    await round();
    const never = await least();
    const undo = instrument();
    const instrumented = await least();
    undo();
    console.log(JSON.stringify({ never, instrumented, undone: await least() }));
  `,
    { execArgv: ['--expose-gc', '--max-semi-space-size=64'] },
  );
  expect(found.undone).toBeLessThan(found.never + NOISE);
  // The measure sees what an instrumentation allocates.
  expect(found.instrumented).toBeGreaterThan(found.never + NOISE);
});
