import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type BashResult, bash } from 'agent-bash';
import { describe, expect } from 'vitest';
import { folder, linuxTest, reaching } from '../../../support/index.ts';
import { GIT, Site } from '../../../undo/support.ts';

const NOTHING = { created: [], modified: [], deleted: [], renamed: [] };

/** Runs a command in a tree that is watched already. */
async function watched(site: Site, command: string, more: object = {}): Promise<BashResult> {
  await site.watched();
  return bash(command, { cwd: site.cwd, safety: 'off', receipt: 'watch', env: GIT, ...more });
}

describe('a watched tree', () => {
  linuxTest('shows what was created, modified, deleted and renamed while a command ran', async () => {
    const site = new Site();
    for (const name of ['edited', 'gone', 'moved']) site.write(name);
    const { receipt } = await watched(site, 'echo new > made; echo more >> edited; rm gone; mv moved there');
    expect(receipt).toMatchObject({ state: 'known', why: null, attribution: 'window' });
    expect(site.changes(receipt)).toEqual({
      created: ['made'],
      modified: ['edited'],
      deleted: ['gone'],
      renamed: [['moved', 'there']],
    });
  });

  linuxTest('shows nothing after a command that changes nothing', async () => {
    const site = new Site();
    site.write('a');
    const { receipt } = await watched(site, 'cat a; touch b; rm b');
    expect(receipt?.state).toBe('known');
    expect(site.changes(receipt)).toEqual(NOTHING);
  });

  linuxTest('a file that was rewritten with as many bytes is modified, and the receipt is partial', async () => {
    const site = new Site();
    site.write('a', 'one\n');
    const { receipt } = await watched(site, 'echo two > a');
    expect(receipt).toMatchObject({ state: 'partial', why: expect.any(String) });
    expect(site.changes(receipt)).toEqual({ ...NOTHING, modified: ['a'] });
  });

  linuxTest('new directories are followed, however deep', async () => {
    const site = new Site();
    const { receipt } = await watched(site, 'mkdir -p x/y/z; echo 1 > x/y/z/a; sleep 0.05; echo 2 > x/y/z/b');
    expect(site.changes(receipt).created).toEqual(['x', 'x/y', 'x/y/z', 'x/y/z/a', 'x/y/z/b']);
  });

  linuxTest('is that of the whole repository, and of the real directory', async () => {
    const site = new Site();
    site.write('sub/a');
    await site.prepare('git init -qb main; git add .; git commit -qm one');
    const link = join(folder(), 'link');
    symlinkSync(site.path('sub'), link);
    await site.watched();
    const { receipt } = await bash('echo x > ../top; echo y > b', {
      cwd: link,
      receipt: 'watch',
      ...reaching(site.cwd),
    });
    expect(site.changes(receipt).created).toEqual(['sub/b', 'top']);
  });

  linuxTest('a commit is seen in git, and not as files below .git', async () => {
    const site = new Site();
    await site.prepare('git init -qb main; git commit -q --allow-empty -m one');
    const { receipt } = await watched(site, 'echo x > a; git add a; git commit -qm two');
    expect(receipt?.git).toMatchObject([{ repository: site.cwd, branch: ['main', 'main'], index: true }]);
    expect(site.changes(receipt)).toEqual({ ...NOTHING, created: ['a'] });
  });

  linuxTest('a large ignored directory is one of directories, and not listed file by file', async () => {
    const site = new Site();
    await site.prepare(
      'git init -qb main; echo node_modules > .gitignore; mkdir -p node_modules; cd node_modules; touch $(seq 1000)',
    );
    const { receipt } = await watched(site, 'echo x > node_modules/1; echo x > node_modules/new; echo y > a');
    expect(receipt?.state).toBe('known');
    expect(site.changes(receipt)).toEqual({ ...NOTHING, created: ['a'] });
    expect(receipt?.directories).toEqual([site.path('node_modules')]);
  });

  linuxTest(
    'the first command in a large tree has an unknown receipt with the reason, and the second a known one',
    async () => {
      const site = new Site();
      await site.prepare('mkdir -p $(seq -f d%g/a/b/c/d/e 2500)');
      const first = await bash('echo x > a', { cwd: site.cwd, receipt: 'watch' });
      expect(first.receipt).toMatchObject({ state: 'unknown', why: expect.stringMatching(/watch/) });
      await site.watched();
      const { receipt } = await bash('echo x > d9/a/b/c/d/e/f', { cwd: site.cwd, receipt: 'watch' });
      expect(site.changes(receipt)).toEqual({ ...NOTHING, created: ['d9/a/b/c/d/e/f'] });
    },
  );

  linuxTest('other places are not seen', async () => {
    const site = new Site();
    const other = folder();
    const { receipt } = await watched(site, `echo x > ${other}/a; echo y > b`, reaching(other));
    expect(receipt?.created.map(({ path }) => path)).toEqual([site.path('b')]);
  });
});

linuxTest('a command is never changed by it: the same output, code and files as without', async () => {
  const command = 'umask; ulimit -n; cat /proc/self/status | grep -E "NoNewPrivs|Seccomp"; echo $-; exit 7';
  const site = new Site();
  const plain = await bash(command, { cwd: site.cwd });
  const seen = await watched(site, command);
  expect([seen.stdout, seen.stderr, seen.exitCode]).toEqual([plain.stdout, plain.stderr, plain.exitCode]);
  expect(seen.undo).toBe(null);
});
