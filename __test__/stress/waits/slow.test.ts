import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { BashOptions, BashResult } from 'agent-bash';
import { expect, test } from 'vitest';
import { folder, pathWith, testNeeding } from '../../support/index.ts';
import { IN_TERMINAL, PLAIN } from './slow.ts';
import { canWait, each, inTerminal, run, waits } from './support.ts';

const paths = canWait ? ['top', 'less'].map(pathWith) : [];
const needing = testNeeding('python3, top and less', canWait && !paths.includes(undefined), 'linux');
const PATH = paths.join(delimiter);

test('there are enough of them', () => {
  expect(PLAIN.length + IN_TERMINAL.length).toBeGreaterThanOrEqual(200);
  expect(new Set(PLAIN).size).toBe(PLAIN.length);
});

type Go = (command: string, options: BashOptions) => Promise<BashResult>;

async function named(commands: string[], go: Go): Promise<unknown[]> {
  const base = folder();
  const found: unknown[] = [];
  await each([...commands.entries()], 8, async ([index, command]) => {
    const cwd = join(base, `${index}`);
    await mkdir(cwd);
    const result = await go(command, { cwd, env: { PATH }, timeoutMs: 1200, graceMs: 50, limits: { cpuSeconds: 30 } });
    const notes = waits(result);
    // One that ended before its limit has shown nothing.
    if (result.status !== 'timed-out' || notes.length > 0) {
      found.push([command, result.status, result.exitCode, notes, result.stderr.slice(-200)]);
    }
  });
  return found;
}

needing('a command that is only slow gets no note', { timeout: 300_000 }, async () => {
  expect(await named(PLAIN, run)).toEqual([]);
});

needing('nor does one with a terminal', { timeout: 300_000 }, async () => {
  expect(await named(IN_TERMINAL, inTerminal)).toEqual([]);
});
