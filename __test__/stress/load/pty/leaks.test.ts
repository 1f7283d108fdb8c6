import { describe, expect } from 'vitest';
import { hostResult, linuxTest } from '../../../support/index.ts';

interface Counts {
  descriptors: number;
  threads: number;
  processes: number;
}

describe('Linux: nothing is used up', () => {
  linuxTest('by 500 terminals, half of which fail', async () => {
    const [before, after] = await hostResult<[Counts, Counts]>(`
      import { PtySession } from 'agent-bash';
      import { readdirSync, readFileSync } from 'node:fs';
      import { setTimeout as sleep } from 'node:timers/promises';
      const parent = (pid) => { try { const text = readFileSync('/proc/' + pid + '/stat', 'utf8'); return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]); } catch { return 0; } };
      const count = () => {
        const list = readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map((pid) => [Number(pid), parent(pid)]);
        const below = new Set([process.pid]);
        for (let more = true; more; ) { more = false; for (const [pid, ppid] of list) if (below.has(ppid) && !below.has(pid)) { below.add(pid); more = true; } }
        return { descriptors: readdirSync('/proc/self/fd').length, threads: readdirSync('/proc/self/task').length, processes: below.size };
      };
      const one = async (n) => {
        const fails = n % 2 === 0;
        const session = new PtySession(fails ? [{ cwd: '/nowhere/at/all' }, { shell: '/nowhere/bash' }, { timeoutMs: -1 }, { env: { BIG: 'x'.repeat(200_000) } }][(n / 2) % 4] : {});
        session.on('data', () => {});
        try {
          await session.start(n % 3 === 0 ? 'sleep 100' : 'echo $((1 + 1))');
          if (n % 3 === 0) await session.kill();
          await session.result();
        } catch (error) { if (!fails) throw error; }
      };
      const all = (from, n) => Promise.all(Array.from({ length: n }, (_, i) => one(from + i)));
      await all(0, 60);
      await sleep(500);
      const before = count();
      for (let done = 0; done < 500; done += 50) await all(done, 50);
      let after = count();
      for (let n = 0; n < 200 && Object.keys(after).some((key) => after[key] > before[key]); n++) { await sleep(25); after = count(); }
      console.log(JSON.stringify([before, after]));
    `);
    for (const key of ['descriptors', 'threads', 'processes'] as const) {
      expect([key, after[key]]).toEqual([key, expect.any(Number)]);
      expect(after[key], key).toBeLessThanOrEqual(before[key]);
    }
  });

  linuxTest('and without descriptors none is started, nor anything lost', async () => {
    const answer = await hostResult<{ codes: string[]; command: string }>(
      `
      import { PtySession } from 'agent-bash';
      import { openSync, closeSync } from 'node:fs';
      await bash('true');
      const held = [];
      try { for (;;) held.push(openSync('/dev/null', 'r')); } catch {}
      const codes = [];
      for (let n = 0; n < 3; n++) await new PtySession().start('true').catch((error) => codes.push(error.code));
      held.forEach(closeSync);
      const session = new PtySession();
      await session.start('echo again');
      console.log(JSON.stringify({ codes, command: (await session.result()).stdout }));
    `,
      { before: 'ulimit -n 128' },
    );
    // One that is free for a moment is enough for a terminal, and then not for all that a command needs.
    const codes = Array(3).fill(expect.stringMatching(/^ERR_BASH_(UNSUPPORTED|SPAWN)$/));
    expect(answer).toEqual({ codes, command: 'again\n' });
  });
});
