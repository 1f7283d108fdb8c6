import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PtySession } from 'agent-bash';
import { expect } from 'vitest';
import type { Load } from './load.ts';

/** Types lines in one terminal until the load is over: each arrives once, in order. */
export async function inTerminal(load: Load): Promise<void> {
  await using terminal = new PtySession({ target: load.target });
  const loop = 'while read -r line && [ "$line" != end ]; do echo "$line" >> typed; echo "<$line>"; done';
  await load.settled('a terminal', terminal.start(`${loop}; exit 9`));
  const lines: string[] = [];
  for (let i = 1; !load.over; i++) {
    lines.push(`line ${i}`);
    await load.settled(`typing ${i}`, terminal.write(`line ${i}\r`));
    if (i % 5 === 0) {
      const { reason } = await load.settled(`reading ${i}`, terminal.wait({ pattern: `<line ${i}>` }));
      expect(reason).toBe('pattern');
    }
    load.counts.typed = i;
    await sleep(load.random(60));
  }
  await load.settled('typing the end', terminal.write('end\r'));
  const result = await load.settled('the end of a terminal', terminal.result());
  expect(result).toMatchObject({ status: 'exited', exitCode: 9 });
  expect(readFileSync(join(load.target.info.home, 'typed'), 'utf8')).toBe(`${lines.join('\n')}\n`);
}
