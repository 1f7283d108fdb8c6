import { type BashResult, bash } from 'agent-bash';
import { expect } from 'vitest';
import { linuxTest, until } from '../support/index.ts';
import { GIT, Site } from '../undo/support.ts';

/** Runs a command beside a repository `p`, and returns its receipt. */
async function beside(site: Site, command: string): Promise<NonNullable<BashResult['receipt']>> {
  const { receipt, stderr } = await bash(command, { cwd: site.cwd, safety: 'off', receipt: 'exact', env: GIT });
  if (receipt === null) throw new Error(`no receipt: ${stderr}`);
  return receipt;
}

/** A directory that is no repository, with a repository in it. */
async function withRepository(): Promise<Site> {
  const site = new Site();
  await site.prepare('git init -qb main p; cd p; echo 1 >a; git add .; git commit -qm one');
  return site;
}

linuxTest('a repository that is not that of cwd is known by the git commands in it', async () => {
  const site = await withRepository();
  const table: [string, object][] = [
    ['cd p && echo 2 >a && git commit -qam two', { branch: ['main', 'main'], index: true, stash: false }],
    ['git -C p checkout -qb topic', { branch: ['main', 'topic'], index: false }],
    ['cd p; echo 3 >a; git stash -q', { branch: ['topic', 'topic'], stash: true }],
    ['cd p; git branch other', { branch: ['topic', 'topic'], index: false, stash: false }],
  ];
  for (const [command, change] of table) {
    const receipt = await beside(site, command);
    expect(receipt, command).toMatchObject({ state: 'known', git: [{ repository: site.path('p'), ...change }] });
  }
});

linuxTest('git that only looks changes no repository', async () => {
  const site = await withRepository();
  const receipt = await beside(site, 'cd p; touch a; git status; git log; git diff');
  expect(receipt).toMatchObject({ state: 'known', git: [] });
});

linuxTest('a new repository has no commit and no branch before', async () => {
  const site = await withRepository();
  const made = await beside(site, 'git init -qb x new; cd new; git commit -q --allow-empty -m x');
  expect(made).toMatchObject({ state: 'known', git: [{ branch: [null, 'x'] }] });
  expect(made.git[0]?.head).toEqual([null, expect.stringMatching(/^[0-9a-f]{40}$/)]);
  const cloned = await beside(site, 'git clone -q p q');
  expect(cloned).toMatchObject({ state: 'known', git: [{ repository: site.path('q'), branch: [null, 'main'] }] });
});

linuxTest('what a program did in another repository is told as not known', async () => {
  const site = await withRepository();
  site.write('x.sh', 'cd p; git commit -q --allow-empty -m x\n');
  const receipt = await beside(site, 'env bash ./x.sh');
  expect(receipt).toMatchObject({ state: 'partial', why: expect.stringContaining(site.path('p')), git: [] });
});

linuxTest('files of a repository that would hold a reader up are told as not known', async () => {
  for (const file of ['index', 'packed-refs']) {
    for (const make of ['mkfifo', 'ln -s /dev/zero', 'truncate -s 1T']) {
      for (const receipt of ['exact', 'watch'] as const) {
        const site = await withRepository();
        const run = (command: string) => bash(command, { cwd: site.path('p'), safety: 'off', receipt, env: GIT });
        // A watch is known once it has read the tree.
        await until(async () => (await run('true')).receipt?.state === 'known');
        const result = await run(`cd .git; rm -f ${file}; ${make} ${file}`);
        expect(result.receipt?.state, `${make} ${file}`).not.toBe('known');
        expect(result.receipt?.why, `${make} ${file}`).toContain('cannot be read');
      }
    }
  }
});

linuxTest('a linked work tree is known, and so is the main one beside it', async () => {
  const site = new Site();
  await site.prepare('git init -qb main m; cd m; echo 1 >a; git add .; git commit -qm one; git worktree add -q ../w');
  const run = async (directory: string, command: string) => {
    const { receipt } = await bash(command, { cwd: site.path(directory), safety: 'off', receipt: 'exact', env: GIT });
    return receipt;
  };
  const known = (git: object[]) => ({ state: 'known', why: null, git });
  expect(await run('w', 'touch a; git status; git diff')).toMatchObject(known([]));
  const w = { repository: site.path('w'), branch: ['w', 'w'] };
  expect(await run('w', 'echo 2 >a; git add a')).toMatchObject(known([{ ...w, index: true }]));
  expect(await run('w', 'git commit -qm two')).toMatchObject(known([{ ...w, index: false }]));
  expect(await run('w', 'git branch x; git pack-refs --all')).toMatchObject(known([w]));
  const m = { repository: site.path('m'), branch: ['main', 'main'] };
  expect(await run('m', 'echo 3 >a; git commit -qam three')).toMatchObject(known([m]));
  expect(await run('w', 'git -C ../m commit -q --allow-empty -m four')).toMatchObject(known([m]));
  site.write('m/x.sh', 'cd ../m; git commit -q --allow-empty -m x\n');
  expect(await run('w', 'env bash ../m/x.sh')).toMatchObject({ state: 'partial' });
});
