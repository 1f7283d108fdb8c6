import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callProgram } from '../../ts/provider/program-call.ts';
import { folder } from '../support/index.ts';

test('programs of providers take turns, also after one that fails or is late', async () => {
  const log = join(folder(), 'log');
  const script = `echo + >> ${log}; sleep 0.05; echo - >> ${log}; exit $0`;
  const calls = Array.from({ length: 8 * availableParallelism() }, (_, index) =>
    callProgram({ argv: ['sh', '-c', script, String(index % 2)], timeoutMs: 60_000 }),
  );
  const late = callProgram({ argv: ['sleep', '1000'], timeoutMs: 100 });
  const answers = await Promise.all(calls);
  expect(answers.filter(({ ok }) => ok)).toHaveLength(calls.length / 2);
  expect(await late).toMatchObject({ ok: false, timedOut: true });
  let [running, most] = [0, 0];
  for (const sign of readFileSync(log, 'utf8').trim().split('\n')) {
    running += sign === '+' ? 1 : -1;
    most = Math.max(most, running);
  }
  expect([running, most]).toEqual([0, 2 * availableParallelism()]);
});
