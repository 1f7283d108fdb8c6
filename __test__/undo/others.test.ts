import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { bash } from 'agent-bash';
import { describe, expect } from 'vitest';
import { clockTest, linuxTest, until } from '../support/index.ts';
import { Site } from './support.ts';

/** The command says that it has made its changes, and waits, without a process. A fifth of a second later it rests. */
const RESTS = '; touch ready; until [ -e go ]; do read -rt 0.4 -u 9; done 9<> <(:); rm -f go ready';
/** The command goes on making changes. */
const BUSY = '; touch ready; until [ -e go ]; do echo > busy; sleep 0.02; done; rm -f go ready busy';

interface Row {
  name: string;
  command: string;
  others: (site: Site) => unknown;
  /** What has to be there after an undo, with its text. */
  stays: [string, string | null][];
  conflicts: string[];
  created?: string[];
  busy?: boolean;
  /** Whether the time of the change tells it from those of the command. */
  dated?: boolean;
}

const anew = (site: Site) => site.write('d/f', 'theirs');

const MADE: Row = {
  name: 'a file in a new directory',
  command: 'mkdir out; echo 1 > out/own',
  others: (site) => site.write('out/report.md', 'theirs'),
  stays: [
    ['out/report.md', 'theirs'],
    ['out/own', null],
  ],
  conflicts: ['out'],
  created: ['out', 'out/own'],
};

const ROWS: Row[] = [
  MADE,
  { ...MADE, name: 'a file in a new directory of a command that goes on', busy: true },
  {
    name: 'a file in a new directory, by another run',
    command: 'mkdir out',
    others: (site) => site.run('echo theirs > out/report.md'),
    stays: [['out/report.md', 'theirs\n']],
    conflicts: ['out'],
    created: ['out'],
  },
  {
    name: 'a rewritten file',
    command: 'echo A >> a',
    others: (site) => site.write('a', 'theirs'),
    stays: [['a', 'theirs']],
    conflicts: ['a'],
    dated: true,
  },
  {
    name: 'a rewritten file, by another run',
    command: 'echo A >> a',
    others: (site) => site.run('echo theirs > a'),
    stays: [['a', 'theirs\n']],
    conflicts: ['a'],
    dated: true,
  },
  {
    name: 'a file that is replaced in one step',
    command: 'echo A >> a',
    others: (site) => renameSync(site.write('t', 'theirs'), site.path('a')),
    stays: [['a', 'theirs']],
    conflicts: ['a'],
    dated: true,
  },
  {
    name: 'a removed file',
    command: 'echo A >> a',
    others: (site) => rmSync(site.path('a')),
    stays: [['a', null]],
    conflicts: ['a'],
  },
  { name: 'what is made anew', command: 'rm -r d', others: anew, stays: [['d/f', 'theirs']], conflicts: ['d/f'] },
  {
    name: 'what is made anew beside a command that goes on',
    command: 'rm -r d',
    others: anew,
    stays: [['d/f', 'theirs']],
    conflicts: ['d/f'],
    busy: true,
  },
];

describe('what others change while a command runs', () => {
  for (const { name, command, others, stays, conflicts, created, busy = false, dated } of ROWS) {
    (dated ? clockTest : linuxTest)(`stays and is named: ${name}`, async () => {
      const site = new Site();
      site.write('a', 'old');
      site.write('d/f', 'old');
      const running = site.run(command + (busy ? BUSY : RESTS));
      await until(() => existsSync(site.path('ready')));
      await sleep(busy ? 0 : 250);
      await others(site);
      site.write('go');
      const { runId, receipt } = await running;
      expect([receipt?.state, receipt?.attribution]).toEqual(['known', 'window']);
      if (created !== undefined) expect(site.changes(receipt).created).toEqual(created);
      const undone = await site.undo(runId);
      expect(undone.conflicts.map(({ path }) => site.short(path))).toEqual(conflicts);
      const read = (path: string) => (existsSync(site.path(path)) ? site.read(path) : null);
      expect(stays.map(([path]) => [path, read(path)])).toEqual(stays);
    });
  }

  linuxTest('is none of it where nobody else changes anything', async () => {
    const site = new Site();
    site.write('a', 'old');
    mkdirSync(site.path('e'));
    const before = site.tree();
    const { runId, receipt } = await bash(
      'exec 3>> a; mkdir out; exec 4> out/log; (sleep 0.4; echo 1 >&3; echo 1 >&4; mv out e; sleep 0.3; rm -r e)',
      { cwd: site.cwd, safety: 'off', undo: { when: 'always', dir: site.dir } },
    );
    expect([receipt?.state, receipt?.attribution]).toEqual(['known', 'command']);
    expect((await site.undo(runId)).conflicts).toEqual([]);
    expect(site.tree()).toEqual(before);
  });
});
