import { existsSync, lstatSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, bash } from 'agent-bash';
import { describe, expect } from 'vitest';
import { linuxTest } from '../../../support/index.ts';
import { Site } from '../../../undo/support.ts';

// Cases in which undos of other tools have lost data. Each case is named after its cause.

/** A repository with a commit. */
async function repository(): Promise<Site> {
  const site = new Site();
  for (const name of ['src/a.ts', 'src/b.ts', 'README.md']) site.write(name);
  site.write('.gitignore', '.env*\nnode_modules\n');
  await site.prepare('git init -qb main; git add .; git commit -qm one');
  return site;
}

/** Runs a command, undoes it, and expects all to be as before, byte for byte. */
async function thereAndBack(site: Site, command: string, options: BashOptions = {}): Promise<void> {
  const before = site.tree();
  const { runId, exitCode, stderr, undo } = await site.run(command, options);
  expect([exitCode, stderr.replace(/^(hint|warning|Switched|HEAD).*\n/gm, '')]).toEqual([0, '']);
  expect(site.tree()).not.toEqual(before);
  expect(undo).toMatchObject({ covers: 'all', notCovered: [] });
  const { conflicts } = await site.undo(runId);
  expect(conflicts).toEqual([]);
  expect(site.tree()).toEqual(before);
}

describe('files that a snapshot did not know', () => {
  linuxTest('ignored files: .env.local', async () => {
    const site = await repository();
    site.write('.env.local', 'KEY=1');
    await thereAndBack(site, 'rm .env.local');
  });

  linuxTest('untracked files, and ignored directories: git clean -fdx', async () => {
    const site = await repository();
    for (const name of ['notes/draft', '.env', 'node_modules/x/index.js']) site.write(name);
    await thereAndBack(site, 'git clean -fdxq');
  });

  linuxTest('files that the user made after the run are not removed', async () => {
    const site = await repository();
    const { runId } = await site.run('rm -r src; echo x > out');
    site.write('src/mine.ts');
    site.write('mine');
    const { removed } = await site.undo(runId);
    expect(removed.map((path) => site.short(path))).toEqual(['out']);
    expect([site.read('src/mine.ts'), site.read('mine'), site.read('src/a.ts')]).toEqual([
      'src/mine.ts\n',
      'mine\n',
      'src/a.ts\n',
    ]);
  });

  linuxTest('a .gitignore that the run rewrites makes no file fair game', async () => {
    const site = await repository();
    site.write('.env', 'KEY=1');
    const { runId } = await site.run('echo > .gitignore; rm README.md');
    site.write('untracked');
    await site.undo(runId);
    expect([site.read('.env'), site.read('untracked')]).toEqual(['KEY=1', 'untracked\n']);
    expect(site.read('.gitignore')).toContain('.env*');
  });
});

describe('git', () => {
  linuxTest('.git removed', async () => {
    // A confined command cannot remove the protected files in it.
    await thereAndBack(await repository(), 'rm -rf .git', { confine: 'off' });
  });

  linuxTest('the index lost: what was staged is staged again', async () => {
    const site = await repository();
    site.write('src/a.ts', 'staged');
    await site.prepare('git add src/a.ts');
    site.write('src/a.ts', 'edited after it was staged');
    await thereAndBack(site, 'git reset -q --hard');
    expect((await bash('git diff --cached; git diff', { cwd: site.cwd })).stdout).toContain('+staged');
  });

  linuxTest('a commit, a new branch and a stash', async () => {
    const site = await repository();
    site.write('src/a.ts', 'edited');
    const git = 'git -c user.name=Ann -c user.email=ann@example.com';
    const before = (
      await bash('git log --format=%s; git branch; git stash list; git status --short', { cwd: site.cwd })
    ).stdout;
    const { runId } = await site.run(
      `${git} stash -q; git switch -qc topic; echo x > x; git add x; ${git} commit -qm two`,
    );
    await site.undo(runId);
    const after = await bash('git log --format=%s; git branch; git stash list; git status --short; git fsck', {
      cwd: site.cwd,
    });
    expect(after.stdout.replace(/^dangling .*\n/gm, '')).toBe(before);
    expect(after.exitCode).toBe(0);
  });

  linuxTest('an index that the user touched since stays', async () => {
    const site = await repository();
    site.write('src/a.ts', 'edited');
    const { runId } = await site.run('git add src/a.ts; rm README.md');
    await site.prepare('git rm -q --cached src/b.ts');
    await site.undo(runId);
    expect(site.read('README.md')).toBe('README.md\n');
    expect((await bash('git diff --cached --name-status', { cwd: site.cwd })).stdout).toContain('D\tsrc/b.ts');
  });

  linuxTest('the user’s refs and stash are no store: a recorded run leaves none of ours', async () => {
    const site = await repository();
    const refs = () => bash('git for-each-ref; git stash list; ls -A .git; git count-objects', { cwd: site.cwd });
    const before = (await refs()).stdout;
    const { runId } = await site.run('rm -r src');
    await site.undo(runId);
    expect((await refs()).stdout).toBe(before);
  });

  linuxTest('nested repositories, also one without a commit', async () => {
    const site = await repository();
    await site.prepare(
      'mkdir lib empty; (cd lib; git init -q; echo x > a; git add a; git commit -qm one; echo y > b); (cd empty; git init -q; echo z > c)',
    );
    await thereAndBack(site, 'rm -rf lib empty', { confine: 'off' });
    await thereAndBack(site, 'cd lib; git clean -fdq; rm -rf .git', { confine: 'off' });
  });

  linuxTest('assume-unchanged: the file comes back as it was, and not as in the commit', async () => {
    const site = await repository();
    await site.prepare('git update-index --assume-unchanged src/a.ts');
    site.write('src/a.ts', 'local and unknown to git');
    await thereAndBack(site, 'git checkout -q HEAD~0 -- . ; sed -i s/local/lost/ src/a.ts; rm src/b.ts');
  });
});

describe('edits that look like none', () => {
  linuxTest('a file whose time alone was set before it went', async () => {
    const site = new Site();
    for (const name of ['a', 'b']) site.write(name);
    await thereAndBack(site, "python3 -c \"import os; os.utime('a'); os.utime('b')\"; rm a; mv b c; touch -c c; rm c");
  });

  linuxTest('git objects that a later command freshened', async () => {
    const site = await repository();
    site.write('copy', 'src/a.ts\n');
    await thereAndBack(site, 'git add -A; rm -rf .git', { confine: 'off' });
  });

  linuxTest('a racy edit: other contents of the same size at the same time', async () => {
    const site = await repository();
    const path = site.write('src/a.ts', 'old');
    utimesSync(path, 1_000, 1_000);
    await site.prepare('git add src/a.ts');
    site.write('src/a.ts', 'new');
    utimesSync(path, 1_000, 1_000);
    const { runId } = await site.run('printf bad > src/a.ts; touch -d @1000 src/a.ts');
    await site.undo(runId);
    expect(site.read('src/a.ts')).toBe('new');
  });

  linuxTest('a user’s edit with the size and the time that the run left is a conflict', async () => {
    const site = await repository();
    const { runId } = await site.run('printf run > src/a.ts; touch -d @1000 src/a.ts');
    utimesSync(site.write('src/a.ts', 'you'), 1_000, 1_000);
    const { conflicts } = await site.undo(runId);
    expect(conflicts.map(({ path }) => site.short(path))).toEqual(['src/a.ts']);
    expect(site.read('src/a.ts')).toBe('you');
    expect(readFileSync(conflicts[0]?.keptAt ?? '', 'utf8')).toBe('src/a.ts\n');
  });

  linuxTest('a change through mmap, and one by truncate', async () => {
    const site = new Site();
    for (const name of ['mapped', 'cut']) site.write(name, '0123456789');
    const map = "import mmap; f = open('mapped', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:3] = b'xxx'; m.flush()";
    await thereAndBack(site, `python3 -c "${map}"; truncate -s 3 cut`);
  });
});

describe('sizes', () => {
  linuxTest('a large tree: 3,000 files removed and restored, without a byte copied', async () => {
    const site = new Site();
    await site.prepare(
      'mkdir big; cd big; for i in $(seq 30); do mkdir d$i; for j in $(seq 100); do echo $i $j > d$i/f$j; done; done',
    );
    const before = site.tree();
    const { runId, undo, receipt } = await site.run('rm -rf big', { mode: 'slow' });
    expect(receipt?.counts.deleted).toBe(3_031);
    expect(undo?.covers).toBe('all');
    expect((await site.undo(runId)).restored).toHaveLength(3_031);
    expect(site.tree()).toEqual(before);
  });

  linuxTest('a huge repository: what is kept is what the run changed, however many files there are', async () => {
    const site = new Site();
    await site.prepare(
      'git init -qb main; for i in $(seq 100); do mkdir d$i; (cd d$i; touch $(seq 200)); done; git add .; git commit -qm one',
    );
    const { runId, undo } = await site.run('echo x > d7/7; rm d8/8');
    expect(undo).toMatchObject({ covers: 'all', bytes: 0 });
    const kept = readdirSync(join(site.dir, 'files', runId), { recursive: true });
    expect(kept.length).toBeLessThan(8);
    expect((await site.undo(runId)).restored.map((path) => site.short(path))).toEqual(['d7/7', 'd8/8']);
  });

  linuxTest('growth of the store: many runs stay within its limit', async () => {
    const site = new Site();
    const storeBytes = 20_000;
    for (let index = 0; index < 12; index++) {
      site.write('a', `${index}`.repeat(4_000));
      await site.run('echo x >> a', { undo: { storeBytes } });
    }
    const points = await site.points();
    expect(points).toHaveLength(12);
    const kept = points.filter(({ evicted }) => evicted === null);
    const bytes = kept.reduce((sum, point) => sum + point.bytes, 0);
    expect(bytes).toBeLessThanOrEqual(storeBytes);
    expect(kept.length).toBeGreaterThan(0);
    // Evicted files are removed while the next command runs. An empty store has four directories, which do not count.
    const disk = () => {
      const names = readdirSync(site.dir, { recursive: true, encoding: 'utf8' });
      const sizes = names.map((name) => lstatSync(join(site.dir, name), { throwIfNoEntry: false })?.blocks ?? 0);
      return sizes.reduce((sum, size) => sum + size * 512, 0);
    };
    await expect.poll(disk, { timeout: 10_000 }).toBeLessThanOrEqual(1.1 * storeBytes + 4 * 4_096);
    expect(existsSync(site.path('a'))).toBe(true);
  });
});
