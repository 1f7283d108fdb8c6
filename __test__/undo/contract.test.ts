import { existsSync, lstatSync, readFileSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { homedir } from 'node:os';
import { BackgroundRegistry, BashSession, bash, undoPoints } from 'agent-bash';
import { describe, expect, onTestFinished } from 'vitest';
import { folder, linuxTest, mark, rejection } from '../support/index.ts';
import { Site, treeOf } from './support.ts';

const names = (site: Site, paths: readonly string[]) => paths.map((path) => site.short(path));

describe('an undo', () => {
  linuxTest('restores what the run changed, and removes what it made', async () => {
    const site = new Site();
    for (const name of ['edited', 'gone', 'dir/deep', 'moved']) site.write(name);
    const before = site.tree();
    const { runId, undo } = await site.run(
      'echo x > made; echo more >> edited; rm -r gone dir; mv moved there; mkdir -p n/m',
    );
    expect(undo).toEqual({ covers: 'all', notCovered: [], bytes: expect.any(Number) });
    expect(site.tree()).not.toEqual(before);
    const undone = await site.undo(runId);
    expect(site.tree()).toEqual(before);
    expect(undone).toMatchObject({ runId, conflicts: [], notCovered: [], undoId: expect.stringMatching(/./) });
    expect(names(site, undone.removed)).toEqual(expect.arrayContaining(['made', 'n', 'n/m']));
    expect(names(site, undone.restored)).toEqual(
      expect.arrayContaining(['dir', 'dir/deep', 'edited', 'gone', 'moved']),
    );
  });

  linuxTest('repeated resolves empty', async () => {
    const site = new Site();
    site.write('a');
    const { runId } = await site.run('rm a');
    await site.undo(runId);
    expect(await site.undo(runId)).toEqual({
      runId,
      restored: [],
      removed: [],
      conflicts: [],
      notCovered: [],
      undoId: '',
    });
  });

  linuxTest('is itself undone, and that again', async () => {
    const site = new Site();
    site.write('a');
    const before = site.tree();
    const { runId } = await site.run('echo more >> a; echo x > b');
    const after = site.tree();
    const { undoId } = await site.undo(runId);
    expect(site.tree()).toEqual(before);
    const redo = await site.undo(undoId);
    expect(site.tree()).toEqual(after);
    await site.undo(redo.undoId);
    expect(site.tree()).toEqual(before);
  });

  linuxTest('with dryRun says what it would do, and touches nothing', async () => {
    const site = new Site();
    site.write('a');
    const { runId } = await site.run('rm a; echo x > b');
    const after = site.tree();
    const { restored, removed, undoId } = await site.undo(runId, { dryRun: true });
    expect([names(site, restored), names(site, removed), undoId]).toEqual([['a'], ['b'], '']);
    expect(site.tree()).toEqual(after);
    expect(await site.points()).toHaveLength(1);
  });

  linuxTest('with paths undoes these and all below them, and the rest later', async () => {
    const site = new Site();
    for (const name of ['src/a', 'src/deep/b', 'other']) site.write(name);
    const before = site.tree();
    const { runId } = await site.run('rm -r src other');
    const first = await site.undo(runId, { paths: [site.path('src')] });
    expect(names(site, first.restored)).toEqual(['src', 'src/a', 'src/deep', 'src/deep/b']);
    expect(existsSync(site.path('other'))).toBe(false);
    await site.undo(runId);
    expect(site.tree()).toEqual(before);
  });

  linuxTest('replaces a file atomically: a reader sees the old contents or the new ones', async () => {
    const site = new Site();
    const [old, next] = ['a', 'b'].map((letter) => letter.repeat(4_000_000)) as [string, string];
    site.write('big', old);
    const { runId } = await site.run('tr a b < big > new; mv new big; chmod 600 big');
    const undone = { is: false };
    const ended = site.undo(runId).finally(() => {
      undone.is = true;
    });
    let seen = 0;
    while (!undone.is) {
      const text = site.read('big');
      expect(text === old || text === next).toBe(true);
      seen += 1;
      await new Promise(setImmediate);
    }
    await ended;
    expect([seen > 0, site.read('big') === old]).toEqual([true, true]);
  });

  linuxTest('works on the bytes of names that are no UTF-8', async () => {
    const site = new Site();
    await site.prepare("echo one > $'a\\xffb'; echo two > $'a\\xfeb'");
    const list = async () => (await bash('ls -b; cat *', { cwd: site.cwd })).stdout;
    const before = await list();
    const { runId, receipt } = await site.run('rm *');
    expect(receipt?.counts.deleted).toBe(2);
    await site.undo(runId);
    expect(await list()).toBe(before);
  });
});

describe('for each path', () => {
  linuxTest('what is as the run left it comes back', async () => {
    const site = new Site();
    site.write('a', 'before');
    const { runId } = await site.run('echo after > a');
    await site.undo(runId);
    expect(site.read('a')).toBe('before');
  });

  linuxTest('what is as before already is done', async () => {
    const site = new Site();
    site.write('a', 'before');
    site.write('b', 'before');
    const { runId } = await site.run('echo after > a; rm b');
    site.write('a', 'before');
    site.write('b', 'before');
    expect(await site.undo(runId)).toMatchObject({ restored: [], removed: [], conflicts: [] });
  });

  linuxTest('anything else is a conflict: it stays, and what was before is kept and named', async () => {
    const site = new Site();
    for (const name of ['edited', 'gone']) site.write(name, 'before');
    const { runId } = await site.run('echo after > edited; rm gone; echo x > made');
    for (const name of ['edited', 'gone', 'made']) site.write(name, 'mine');
    const { conflicts, restored, removed } = await site.undo(runId);
    expect([restored, removed]).toEqual([[], []]);
    expect(
      names(
        site,
        conflicts.map(({ path }) => path),
      ).sort(),
    ).toEqual(['edited', 'gone', 'made']);
    for (const name of ['edited', 'gone', 'made']) expect(site.read(name)).toBe('mine');
    for (const { path, keptAt, why } of conflicts) {
      expect(why).toMatch(/./);
      if (site.short(path) === 'made') expect(keptAt).toBe(null);
      else expect(readFileSync(keptAt ?? '', 'utf8')).toBe('before');
    }
  });

  linuxTest('only what the run made is removed, and a directory only if it is empty', async () => {
    const site = new Site();
    const { runId } = await site.run('mkdir -p out/in; echo x > out/in/a');
    site.write('out/mine');
    const { removed } = await site.undo(runId);
    expect(names(site, removed).sort()).toEqual(['out/in', 'out/in/a']);
    expect(site.read('out/mine')).toBe('out/mine\n');
  });

  linuxTest('modes, links, symbolic links and empty directories are exact', async () => {
    const site = new Site();
    site.write('script');
    site.write('one');
    await site.prepare('chmod 4751 script; ln one two; ln -s one soft; ln -s nowhere broken; mkdir -m 2770 empty');
    const before = site.tree();
    const { runId } = await site.run(
      'chmod 644 script; rm two soft broken; rmdir empty; echo x >> one; ln -s x script2',
    );
    await site.undo(runId);
    expect(site.tree()).toEqual(before);
  });

  linuxTest('an edit in place keeps the links of a file, forth and back', async () => {
    const site = new Site();
    site.write('one');
    await site.prepare('ln one two');
    const before = site.tree();
    const { runId } = await site.run('echo more >> one');
    await site.undo(runId);
    expect(site.tree()).toEqual(before);
    expect(lstatSync(site.path('one')).ino).toBe(lstatSync(site.path('two')).ino);
  });

  linuxTest('the time of a restored file is now', async () => {
    const site = new Site();
    utimesSync(site.write('a'), 1_000, 1_000);
    const { runId } = await site.run('rm a');
    const start = Date.now();
    await site.undo(runId);
    expect(statSync(site.path('a')).mtimeMs).toBeGreaterThan(start - 5_000);
  });

  linuxTest('a link that was put in the way is not followed', async () => {
    const site = new Site();
    const outside = folder();
    site.write('dir/a', 'before');
    const { runId } = await site.run('rm -r dir');
    symlinkSync(outside, site.path('dir'));
    const { conflicts } = await site.undo(runId);
    expect(conflicts.length).toBeGreaterThan(0);
    expect(Object.keys(treeOf(outside))).toEqual(['.']);
  });
});

describe('several runs', () => {
  linuxTest('undo newest first without conflict', async () => {
    const site = new Site();
    site.write('a', '0\n');
    const trees = [site.tree()];
    const ids: string[] = [];
    for (const command of ['echo 1 >> a', 'mv a b; echo x > c', 'rm b; mkdir a']) {
      ids.push((await site.run(command)).runId);
      trees.push(site.tree());
    }
    for (const id of ids.reverse()) {
      trees.pop();
      expect((await site.undo(id)).conflicts).toEqual([]);
      expect(site.tree()).toEqual(trees.at(-1));
    }
  });

  linuxTest('an older one alone restores only what later ones left alone', async () => {
    const site = new Site();
    site.write('a', 'old');
    site.write('b', 'old');
    const first = await site.run('echo 1 > a; echo 1 > b');
    await site.run('echo 2 > b');
    const { restored, conflicts } = await site.undo(first.runId);
    expect([names(site, restored), conflicts.map(({ path }) => site.short(path))]).toEqual([['a'], ['b']]);
    expect([site.read('a'), site.read('b')]).toEqual(['old', '2\n']);
  });

  linuxTest('two undos at once: one waits, and nothing is lost', async () => {
    const site = new Site();
    for (let index = 0; index < 200; index++) site.write(`f${index}`);
    const before = site.tree();
    const { runId } = await site.run('rm f*');
    const undone = await Promise.all([site.undo(runId), site.undo(runId)]);
    expect(undone.map(({ restored }) => restored.length).sort()).toEqual([0, 200]);
    expect(site.tree()).toEqual(before);
  });

  linuxTest('points are listed by the directory in which they ran, or below', async () => {
    const site = new Site();
    site.write('sub/a');
    await site.run('echo 1 > a');
    await site.run('echo 2 > b', { cwd: site.path('sub') });
    const commands = async (cwd: string) => (await undoPoints({ dir: site.dir, cwd })).map(({ command }) => command);
    expect(await commands(site.cwd)).toEqual(['echo 2 > b', 'echo 1 > a']);
    expect(await commands(site.path('sub'))).toEqual(['echo 2 > b']);
    expect(await commands(site.path('su'))).toEqual([]);
  });

  linuxTest('points are listed newest first, with undos', async () => {
    const site = new Site();
    const start = Date.now();
    const first = await site.run('echo 1 > a');
    const second = await site.run('echo 2 > b');
    const { undoId } = await site.undo(second.runId);
    const points = await site.points();
    expect(points.map(({ runId, command }) => [runId, command])).toEqual([
      [undoId, `undo ${second.runId}`],
      [second.runId, 'echo 2 > b'],
      [first.runId, 'echo 1 > a'],
    ]);
    for (const { cwd, at, covers, evicted } of points) {
      expect({ cwd, covers, evicted }).toEqual({ cwd: site.cwd, covers: 'all', evicted: null });
      expect(at).toBeGreaterThan(start - 60_000);
    }
  });
});

describe('which runs have a point', () => {
  linuxTest("'risky': what deletes or overwrites, and not what only reads or makes", async () => {
    const site = new Site();
    const cover = async (command: string) => {
      for (const name of ['a', 'b']) site.write(name);
      return (await site.run(command, { undo: { when: 'risky' }, safety: 'default' })).undo?.covers ?? null;
    };
    for (const command of ['rm a', 'mv a b', 'sed -i s/a/b/ a', 'truncate -s 0 a', 'find . -name a -delete']) {
      expect([command, await cover(command)]).toEqual([command, 'all']);
    }
    for (const command of ['ls', 'cat a', 'echo hi']) expect([command, await cover(command)]).toEqual([command, null]);
  });

  linuxTest('a run in / or in the home directory has none, with a note, and is refused with require', async () => {
    for (const cwd of ['/', homedir()]) {
      const dir = folder();
      const { undo, notes } = await bash('true', { cwd, undo: { when: 'always', dir }, confine: 'off' });
      expect([undo, notes.join('\n')]).toEqual([null, expect.stringContaining('no undo point is made for')]);
      const options = { cwd, undo: { when: 'always', dir, require: true }, confine: 'off' } as const;
      expect(await rejection(() => bash('true', options))).toMatchObject({ code: 'ERR_BASH_UNDO' });
    }
  });

  linuxTest('a run that still goes on is ERR_BASH_UNDO, and is not listed', async () => {
    const site = new Site();
    await using registry = new BackgroundRegistry();
    const undo = { when: 'always', dir: site.dir } as const;
    const task = await registry.start(`echo $AGENT_BASH_ID; echo x > a; echo written; sleep ${mark()}`, {
      cwd: site.cwd,
      undo,
    });
    const { output } = await registry.wait(task.id, { pattern: 'written' });
    const runId = output.split('\n')[0] ?? '';
    expect(await rejection(() => site.undo(runId))).toMatchObject({
      code: 'ERR_BASH_UNDO',
      message: expect.stringContaining('still goes on'),
    });
    expect(await site.points()).toEqual([]);
    expect(site.read('a')).toBe('x\n');
    const check = await registry.kill(task.id);
    expect(check).toMatchObject({ runId, undo: { covers: 'all' } });
    await site.undo(runId);
    expect(existsSync(site.path('a'))).toBe(false);
  });

  linuxTest('a run with survivors can be undone, and they are named', async () => {
    const site = new Site();
    site.write('a');
    const { runId, survivors, receipt, undo } = await site.run(`rm a; sleep ${mark()} > /dev/null 2>&1 &`);
    onTestFinished(() => {
      for (const { pid } of survivors) process.kill(pid, 'SIGKILL');
    });
    expect(survivors).toHaveLength(1);
    expect(receipt?.state).toBe('partial');
    const pid = String(survivors[0]?.pid);
    expect(undo).toMatchObject({ covers: 'part', notCovered: [expect.stringContaining(pid)] });
    await site.undo(runId);
    expect(site.read('a')).toBe('a\n');
  });

  linuxTest('in a session, and confined', async () => {
    const site = new Site();
    for (const name of ['a', 'b']) site.write(name);
    const undo = { when: 'always', dir: site.dir } as const;
    await using session = new BashSession({ cwd: site.cwd, undo });
    const first = await session.run('rm a');
    const second = await bash('rm b', { cwd: site.cwd, undo, confine: 'workspace' });
    for (const { runId, undo } of [first, second]) {
      expect(undo?.covers).toBe('all');
      await site.undo(runId);
    }
    expect([site.read('a'), site.read('b')]).toEqual(['a\n', 'b\n']);
  });
});
