import { existsSync, mkdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, onTestFinished } from 'vitest';
import { folder, linuxTest, reaching, rejection } from '../support/index.ts';
import { GIT, Site } from './support.ts';

const names = (site: Site, paths: readonly string[]) => paths.map((path) => site.short(path));

describe('changes that are not covered', () => {
  linuxTest('a file past a limit is named, and its changes stay', async () => {
    const site = new Site();
    site.write('big', 'x'.repeat(100));
    site.write('small', 'x');
    const { runId, undo, receipt } = await site.run('echo y >> big; echo y >> small', { undo: { maxFileBytes: 10 } });
    expect(undo).toMatchObject({ covers: 'part', notCovered: [expect.stringContaining('big')] });
    expect(site.changes(receipt).modified).toEqual(['big', 'small']);
    const { restored, notCovered } = await site.undo(runId);
    expect([names(site, restored), notCovered]).toEqual([['small'], [expect.stringContaining('big')]]);
    expect(site.read('big').endsWith('y\n')).toBe(true);
  });

  linuxTest('a removed file is kept by another name, whatever its size', async () => {
    const site = new Site();
    site.write('big', 'x'.repeat(100));
    const { runId, undo } = await site.run('rm big', { undo: { maxFileBytes: 10 } });
    expect(undo?.covers).toBe('all');
    await site.undo(runId);
    expect(site.read('big')).toHaveLength(100);
  });

  linuxTest('with require a change that cannot be kept fails inside the command', async () => {
    const site = new Site();
    site.write('big', 'x'.repeat(100));
    const { exitCode, stderr, undo } = await site.run('echo y >> big; echo more', {
      undo: { maxFileBytes: 10, require: true },
    });
    expect(stderr).toMatch(/quota/i);
    expect([exitCode, undo?.covers]).toEqual([0, 'all']);
    expect(site.read('big')).toHaveLength(100);
  });

  linuxTest('with require a command whose undo cannot be had is refused, and nothing runs', async () => {
    const site = new Site();
    const error = await rejection(() => site.run('touch a; sudo -n rm a', { undo: { require: true } }));
    expect(error).toMatchObject({ code: 'ERR_BASH_UNDO', message: expect.stringMatching(/nothing was started.*sudo/) });
    expect(existsSync(site.path('a'))).toBe(false);
  });

  linuxTest('with require a command that fails so has changed only what an undo takes back', async () => {
    const site = new Site();
    for (const name of ['a', 'b']) site.write(name, 'x'.repeat(3_000));
    const before = site.tree();
    const { runId, undo, stderr } = await site.run('rm a; echo y >> b', {
      undo: { maxFileBytes: 10, require: true },
    });
    expect([undo, stderr]).toMatchObject([{ covers: 'all', notCovered: [] }, expect.stringMatching(/quota/i)]);
    await site.undo(runId);
    expect(site.tree()).toEqual(before);
  });

  linuxTest('what goes past maxBytes is not kept, and is named', async () => {
    const site = new Site();
    for (const name of ['a', 'b']) site.write(name, 'x'.repeat(3_000));
    const { runId, undo } = await site.run('echo y >> a; echo y >> b', { undo: { maxBytes: 4_000 } });
    expect(undo).toMatchObject({ covers: 'part', notCovered: [expect.stringContaining('b')] });
    const { restored, notCovered } = await site.undo(runId);
    expect([names(site, restored), notCovered]).toEqual([['a'], [expect.stringContaining('b')]]);
  });

  linuxTest('a push is said, and the files are covered', async () => {
    const site = new Site();
    const remote = folder();
    await site.prepare(
      `git init -q --bare ${remote}; git init -qb main; git commit -q --allow-empty -m one; git remote add origin ${remote}`,
    );
    const { undo } = await site.run('git push -q origin main', { ...reaching(remote), safety: 'default', env: GIT });
    expect(undo?.notCovered.join('\n')).toMatch(/push/);
    expect(undo?.covers).toBe('all');
  });
});

describe('the store', () => {
  linuxTest('is private, and holds at most storeBytes: the oldest is evicted, and listed with the reason', async () => {
    const site = new Site();
    const undo = { storeBytes: 3_000 };
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      site.write(name, 'x'.repeat(2_000));
      ids.push((await site.run(`echo y >> ${name}`, { undo })).runId);
    }
    expect(statSync(site.dir).mode & 0o777).toBe(0o700);
    const points = await site.points();
    expect(points.map(({ runId }) => runId)).toEqual([...ids].reverse());
    expect(points.at(-1)?.evicted).toMatch(/the store holds at most 3000 bytes/);
    expect(await rejection(() => site.undo(ids[0] ?? ''))).toMatchObject({
      code: 'ERR_BASH_UNDO',
      message: expect.stringContaining('evicted'),
    });
    await site.undo(ids[2] ?? '');
    expect(site.read('c')).toHaveLength(2_000);
  });

  linuxTest('is hidden from a confined command, wherever it is', async () => {
    const site = new Site();
    site.write('secret', 'a secret');
    await site.run('rm secret');
    const other = site.write('../other');
    const list = `cat ${other} ${site.dir}/files/*/*; ls ${site.dir} | head -1; rm -rf ${site.dir}`;
    const { stdout } = await site.run(list, { confine: { profile: 'workspace', tmp: 'shared' } });
    expect(stdout).toBe('../other\n');
    expect((await site.points()).length).toBeGreaterThan(1);
  });

  linuxTest('a command in the store, or one that changes it, is not recorded as if nothing had changed', async () => {
    const site = new Site();
    await site.run('true');
    const within = await bash('echo x > f', {
      cwd: site.dir,
      undo: { when: 'always', dir: site.dir },
      confine: 'off',
    });
    expect(within).toMatchObject({ undo: null, notes: [expect.stringContaining('is in the undo store')] });
    const about = await site.run(`echo x > ${site.dir}/f`, { confine: 'off' });
    expect(about.receipt).toMatchObject({ state: 'partial', why: expect.stringContaining('the undo store') });
    expect(about.undo?.covers).toBe('part');
  });

  linuxTest('a command without undo writes nothing into it', async () => {
    const site = new Site();
    await bash('rm -f a; echo x > b', { cwd: site.cwd, receipt: 'watch' });
    expect(existsSync(site.dir)).toBe(false);
    expect(await site.points()).toEqual([]);
  });

  linuxTest('a receipt alone leaves no point', async () => {
    const site = new Site();
    mkdirSync(site.dir, { mode: 0o700 });
    const state = folder();
    const before = process.env.XDG_STATE_HOME;
    process.env.XDG_STATE_HOME = state;
    onTestFinished(() => {
      if (before === undefined) delete process.env.XDG_STATE_HOME;
      else process.env.XDG_STATE_HOME = before;
    });
    const { runId } = await bash('echo x > a', { cwd: site.cwd, receipt: 'exact' });
    const dir = join(state, 'agent-bash', 'undo');
    expect(await rejection(() => site.undo(runId, { dir }))).toMatchObject({ code: 'ERR_BASH_UNDO' });
    unlinkSync(site.path('a'));
  });
});
