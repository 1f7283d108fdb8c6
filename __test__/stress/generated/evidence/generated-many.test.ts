import { expect } from 'vitest';
import { expectAsInBash } from '../../../evidence/generated.ts';
import { linuxTest } from '../../../support/index.ts';

// Another seed and more of them: AGENT_BASH_SEED=1001 AGENT_BASH_COMMANDS=10000.
const first = Number(process.env.AGENT_BASH_SEED ?? 1);
const count = Number(process.env.AGENT_BASH_COMMANDS ?? 500);

for (let from = first; from < first + count; from += 250) {
  for (const inSession of [false, true]) {
    linuxTest(
      `250 commands from ${from} on ${inSession ? 'in sessions' : 'alone'}: their evidence is what plain bash does`,
      { timeout: 600_000 },
      async () => {
        const partial = await expectAsInBash({ from, to: from + 249, inSession });
        // The places of commands in traps are not known.
        expect(partial).toBeLessThan(50);
      },
    );
  }
}
