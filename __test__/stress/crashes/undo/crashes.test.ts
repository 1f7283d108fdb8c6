import { randomInt } from 'node:crypto';
import { describe } from 'vitest';
import { linuxTest } from '../../../support/index.ts';
import { crash, crashUndo } from '../../../undo/crashing.ts';

/** How often each of the three is killed: AGENT_BASH_CRASHES, or 67. AGENT_BASH_CRASH_SEED is the first seed. */
const rounds = Number(process.env.AGENT_BASH_CRASHES ?? 67);
const first = Number(process.env.AGENT_BASH_CRASH_SEED ?? randomInt(1, 2 ** 30));

/** Rounds of one test. */
const PART = 10;

describe.each([
  ['a host', (seed: number) => crash('host', seed)],
  ['a shim', (seed: number) => crash('shim', seed)],
  ['an undo', crashUndo],
] as const)('%s that is killed at random moments loses nothing', (_name, round) => {
  for (let at = 0; at < rounds; at += PART) {
    const seeds = Array.from({ length: Math.min(PART, rounds - at) }, (_, more) => first + at + more);
    linuxTest(`seeds ${seeds[0]} to ${seeds.at(-1)}`, async () => {
      for (const seed of seeds) await round(seed);
    });
  }
});
