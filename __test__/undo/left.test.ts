import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BackgroundCheck, BackgroundRegistry, type BashOptions, BashSession, bash } from 'agent-bash';
import { describe, expect, onTestFinished } from 'vitest';
import { folder, linuxTest, promptTest, until } from '../support/index.ts';
import { Site } from './support.ts';

const UNDO = (site: Site) => ({ when: 'always' as const, dir: site.dir });
/** Ends after the shell, and before the result. */
const BEHIND = ['rm -r d &', '(sleep .1; rm -r d) & echo on', '(exec >&- 2>&-; sleep .01; rm -r d) & kill -9 $$'];

type Run = Pick<BackgroundCheck, 'runId' | 'receipt' | 'undo'>;

async function asTask(site: Site, command: string, moved = false): Promise<Run> {
  const tasks = new BackgroundRegistry();
  onTestFinished(() => tasks.close());
  const options = { cwd: site.cwd, undo: UNDO(site), safety: 'off' as const };
  if (!moved) return tasks.wait((await tasks.start(command, options)).id, { timeoutMs: 20_000 });
  const go = join(folder(), 'go');
  const move = { timeoutMs: 50, onTimeout: 'background' as const, registry: tasks };
  const { background } = await bash(`until [ -e ${go} ]; do sleep .01; done; ${command}`, { ...options, ...move });
  writeFileSync(go, '');
  return tasks.wait(background?.id ?? '', { timeoutMs: 20_000 });
}

const ways: [string, (site: Site, command: string) => Promise<Run>][] = [
  ['a command', (site, command) => site.run(command)],
  ['a command that must be covered', (site, command) => site.run(command, { undo: { require: true } })],
  ['merged streams', (site, command) => site.run(command, { merge: true } as BashOptions)],
  [
    'a session',
    (site, command) => new BashSession({ cwd: site.cwd }).run(command, { undo: UNDO(site), safety: 'off' }),
  ],
];

describe('what a command has left running, and what ends before its result', () => {
  for (const [name, run] of ways) {
    promptTest(`is in the receipt and in the undo of ${name}`, async () => {
      for (const command of BEHIND) {
        const site = new Site();
        site.write('d/f');
        const { runId, receipt, undo } = await run(site, command);
        const changed = [existsSync(site.path('d')), receipt?.state, receipt?.counts.deleted, undo?.covers];
        expect([command, ...changed]).toEqual([command, false, 'known', 2, 'all']);
        await site.undo(runId ?? '');
        expect(site.read('d/f')).toBe('d/f\n');
      }
    });
  }

  linuxTest('what goes on makes the receipt partial', async () => {
    const site = new Site();
    site.write('d/f');
    const { receipt, undo, survivors } = await site.run('(exec >&- 2>&-; sleep .5; rm -r d) & true');
    expect([receipt?.state, undo?.covers, survivors.length > 0]).toEqual(['partial', 'part', true]);
    await until(() => !existsSync(site.path('d')));
  });

  for (const moved of [false, true]) {
    promptTest(`so with a task${moved ? ' that was moved' : ''}`, async () => {
      const site = new Site();
      site.write('d/f');
      const left = await asTask(site, '(exec >&- 2>&- <&-; sleep .01; rm -r d) & true', moved);
      expect([left.receipt?.state, left.receipt?.counts.deleted, left.undo?.covers]).toEqual(['known', 2, 'all']);
      await site.undo(left.runId ?? '');
      const goesOn = await asTask(site, '(exec >&- 2>&- <&-; sleep .5; rm -r d) & true', moved);
      expect([goesOn.receipt?.state, goesOn.undo?.covers]).toEqual(['partial', 'part']);
      await until(() => !existsSync(site.path('d')));
    });
  }
});
