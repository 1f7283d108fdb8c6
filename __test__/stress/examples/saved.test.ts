import { join } from 'node:path';
import { reduceText } from 'agent-bash';
import { expect, test } from 'vitest';
import { RESULT } from '../../ai/fixtures/call.ts';
import { EXAMPLE } from './support.ts';

const { Saved } = await import(join(EXAMPLE, 'saved.mjs'));

test('the closing line has the sum, and the savings of each class', () => {
  const saved = new Saved();
  const stdout = 'waiting for the server\n'.repeat(100);
  const green = reduceText(stdout, { exitCode: 0 });
  const red = reduceText(stdout, { exitCode: 1 });
  for (const view of [green, green, red]) saved.add({ ...RESULT, stdout, view });
  saved.add({ ...RESULT, stdout: 'two words\n', view: null });
  const { before, after } = green.tokens;
  const left = before - after;
  expect(left).toBeGreaterThan(0);
  expect(`${saved}`).toBe(
    `${3 * left} of ${3 * before + 3} tokens of output: red ${left} of ${before}, green ${2 * left} of ${2 * before}, unchanged 3`,
  );
});

test('outputs of no command count for nothing', () => {
  const saved = new Saved();
  saved.add({ error: 'nothing ran', code: 'ERR_BASH_BLOCKED' });
  saved.add({ status: 'running', stdout: 'so far', stderr: '', exitCode: null, pid: 1, durationMs: 1 });
  saved.add({ task: {}, output: 'a log' });
  expect(`${saved}`).toBe('0 of 0 tokens of output: unchanged 0');
});
