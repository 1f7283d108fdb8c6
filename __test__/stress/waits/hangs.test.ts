import { describe, expect, test } from 'vitest';
import { folder, pathWith, testNeeding } from '../../support/index.ts';
import { CASES } from './cases.ts';
import { canWait, inTerminal, run, waiting, waits } from './support.ts';

const STARTS_SLOWLY = /python|node|npm|vim|dialog|git|ssh/;

test('there are enough of them', () => {
  expect(CASES.length).toBeGreaterThanOrEqual(40);
});

describe.concurrent('the note at the limit names process, descriptor and source', () => {
  for (const { terminal, command, who, what, needs, limit } of CASES) {
    const path = canWait ? pathWith(needs ?? 'python3') : undefined;
    testNeeding(
      needs ?? 'python3',
      path !== undefined,
      'linux',
    )(command, async ({ onTestFinished, expect }) => {
      const cwd = folder(onTestFinished);
      const go = terminal ? inTerminal : run;
      const options = { cwd, env: { PATH: path }, ...(limit && { timeoutMs: limit }) };
      // bash itself is there at once.
      const slow = STARTS_SLOWLY.test(`${needs} ${command}`);
      const result = await (slow ? waiting(go, command, options) : go(command, options));
      expect(result).toMatchObject({ status: 'timed-out', exitCode: 124 });
      const notes = waits(result);
      expect(notes, JSON.stringify(result.stdout.slice(-300))).toHaveLength(1);
      const [, name, pid, rest] =
        /^(?:waiting for input that nobody gives|waiting for a reader|stopped): (.*) \(pid (\d+)\) (.*)$/.exec(
          notes[0] ?? '',
        ) ?? [];
      expect(name, notes[0]).toContain(who);
      expect(Number(pid)).toBeGreaterThan(1);
      expect(rest).toMatch(what);
    });
  }
});
