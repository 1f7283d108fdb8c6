import { expect } from 'vitest';
import { cases, operands } from '../../../safety/canaries/cases.ts';
import { tried } from '../../../safety/canaries/run.ts';
import { linuxTest } from '../../../support/index.ts';

// Another seed and more of them: AGENT_BASH_SEED=1001 AGENT_BASH_COMMANDS=100000.
const seed = Number(process.env.AGENT_BASH_SEED ?? 71);
const count = Number(process.env.AGENT_BASH_COMMANDS ?? 20_000);

linuxTest(`${count} texts that bash expands a second time, from seed ${seed} on`, { timeout: 1_200_000 }, async () => {
  const { tried: all, ran } = await tried(cases(seed, count));
  expect(ran).toBeGreaterThan(all / 2);
});

linuxTest('every builtin with every option and operand', { timeout: 1_200_000 }, async () => {
  const { ran } = await tried(operands());
  expect(ran).toBeGreaterThan(1000);
});
