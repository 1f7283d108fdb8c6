import { BashSession, bash } from 'agent-bash';
import { expect } from 'vitest';
import { linuxTest } from '../support/index.ts';

const SHOWN = 'nice; ulimit -S -c; ulimit -H -c; ulimit -H -n';

linuxTest('what a command does to its helper is not left to later commands', async () => {
  const before = (await bash(SHOWN)).stdout;
  await using session = new BashSession();
  for (const run of [bash, session.run.bind(session)] as (typeof bash)[]) {
    for (const change of ['renice 3 $PPID >/dev/null', 'prlimit --pid $PPID --core=0 --nofile=100:100']) {
      expect((await run(`ps -o comm= $PPID; ${change}`)).stdout).toContain('agent-bash');
      // As many as there are helpers, so that each serves one of them.
      const shown = await Promise.all(Array.from({ length: 6 }, () => bash(SHOWN)));
      expect(shown.map(({ stdout }) => stdout)).toEqual(shown.map(() => before));
      expect((await run(SHOWN)).stdout).toBe(before);
    }
  }
});
