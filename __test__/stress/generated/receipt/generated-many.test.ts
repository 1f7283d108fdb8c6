import { compare } from '../../../receipt/generated.ts';
import { linuxTest } from '../../../support/index.ts';

// Another seed and more of them: AGENT_BASH_SEED=1001 AGENT_BASH_COMMANDS=10000.
const first = Number(process.env.AGENT_BASH_SEED ?? 1);
const count = Number(process.env.AGENT_BASH_COMMANDS ?? 500);

for (let from = first; from < first + count; from += 500) {
  linuxTest.each([
    ['a full comparison', false],
    ['a full comparison, and an undo restores the tree', true],
  ])(`500 generated commands from ${from} on: a known receipt is that of %s`, { timeout: 300_000 }, (_, kept) =>
    compare({ from, to: from + 499, kept }),
  );
}
