import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { expect, test, vi } from 'vitest';
import { Kubectl } from '../../ts/kubernetes/kubectl.ts';
import { checkedSettings as sandboxSettings } from '../../ts/kubernetes/options.ts';
import { callProgram } from '../../ts/provider/program-call.ts';
import { slurmJobs } from '../../ts/slurm/provider.ts';
import { finished, folder } from '../support/index.ts';
import { onPath, request, scripted } from './scripted.ts';

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

/** Programs of clusters of which the first attempt fails, and the calls that repeat it. */
const REPEATED: [name: string, programs: Record<string, string>, call: () => Promise<unknown>][] = [
  [
    'kubectl',
    { kubectl: '[ `again attempts` = 1 ] && { echo Conflict >&2; exit 1; }; echo done' },
    () => new Kubectl(sandboxSettings({ warmPool: 'agents' })).call(['get', 'pods'], { failing: 'it failed' }),
  ],
  [
    'sbatch',
    {
      sbatch: '[ `again attempts` = 1 ] && { echo "Unable to contact slurm controller" >&2; exit 1; }; echo 7',
      squeue: 'echo "RUNNING|`date -d "+5 minutes" +%s`|None"',
    },
    () => slurmJobs({ minutes: 5 }).acquire(request()),
  ],
];

test.each(REPEATED)('a call of %s that waits long for its turn is repeated all the same', async (_, programs, call) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  finished(() => void vi.useRealTimers());
  const script = scripted(programs);
  onPath(script.directory);
  const go = join(script.directory, 'go');
  const others = Array.from({ length: 2 * availableParallelism() }, () =>
    callProgram({ argv: ['sh', '-c', `until [ -e ${go} ]; do sleep 0.02; done`], timeoutMs: 60_000 }),
  );
  const called = call();
  vi.advanceTimersByTime(60_000);
  writeFileSync(go, '');
  await called;
  expect(script.calls().length).toBeGreaterThan(1);
  await Promise.all(others);
});
