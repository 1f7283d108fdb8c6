import { describe, expect, test } from 'vitest';
import { HANG, hostResult } from '../../../support/index.ts';

describe('what takes long to draw', () => {
  test('keeps neither a kill waiting, nor other commands, nor the event loop', async () => {
    const took = await hostResult<{ status: string; kill: number; others: number; longest: number }>(`
      import { PtySession } from 'agent-bash';
      import { setTimeout as sleep } from 'node:timers/promises';
      const sessions = Array.from({ length: 8 }, () => new PtySession({ cols: 1000, rows: 1000 }));
      for (const session of sessions) await session.start("yes $'\\\\e#8\\\\e[2J\\\\e[9L' | tr -d '\\\\n'");
      await sessions[0].wait({ timeoutMs: 500 });
      let [longest, last] = [0, performance.now()];
      const ticks = setInterval(() => { const now = performance.now(); longest = Math.max(longest, now - last); last = now; }, 10);
      let started = performance.now();
      await bash('true');
      const others = performance.now() - started;
      sessions.forEach((session) => { session.screen(); session.resize(999, 999); });
      await sleep(50);
      clearInterval(ticks);
      started = performance.now();
      await Promise.all(sessions.map((session) => session.kill()));
      const kill = performance.now() - started;
      console.log(JSON.stringify({ status: (await sessions[0].result()).status, kill, others, longest }));
    `);
    expect(took.status).toBe('aborted');
    expect(Math.max(took.kill, took.others, took.longest)).toBeLessThan(HANG);
  });

  test('is drawn after all, and before the end', async () => {
    const lines = await hostResult<string[]>(`
      import { PtySession } from 'agent-bash';
      const session = new PtySession({ cols: 1000, rows: 300 });
      await session.start("for i in {1..50}; do printf '\\\\e[2J\\\\e#8'; done; printf '\\\\e[2J\\\\e[Hlast'");
      await session.result();
      console.log(JSON.stringify(session.screen().lines.filter(Boolean)));
    `);
    expect(lines).toEqual(['last']);
  });
});

test('a large screen that is made narrow takes no gigabytes', async () => {
  const grown = await hostResult<number>(`
    import { PtySession } from 'agent-bash';
    const session = new PtySession({ cols: 1000, rows: 1000 });
    await session.start('printf %0990000d 1');
    await session.result();
    const before = process.resourceUsage().maxRSS;
    session.resize(2, 1000);
    console.log(JSON.stringify(process.resourceUsage().maxRSS - before));
  `);
  expect(grown, 'kB').toBeLessThan(400_000);
});

test('a shim that is killed before the start is reported is an end', async () => {
  const ends = await hostResult<string[]>(`
    import { PtySession } from 'agent-bash';
    const one = async () => {
      const session = new PtySession();
      await session.start('kill -9 $PPID; echo after; sleep 100');
      return (await session.result()).status;
    };
    console.log(JSON.stringify(await Promise.all(Array.from({ length: 40 }, one))));
  `);
  expect(new Set(ends)).toEqual(new Set(['signaled']));
});
