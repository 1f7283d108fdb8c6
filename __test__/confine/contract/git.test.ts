import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder } from '../../support/index.ts';
import { withoutNamespaces } from '../support/held.ts';

describe.runIf(process.platform === 'linux')('git outside of the write roots', () => {
  const env = {
    HOME: '/nonexistent',
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [`GIT_${who}_NAME`, `GIT_${who}_EMAIL`].map((name) => [name, 'n'])),
    ),
  };

  /** Without those on what is different where a listener holds the files. */
  const aboutGit = (notes: string[]) => notes.filter((note) => note.startsWith('git '));

  /** A repository with a linked work tree, which is the directory of the commands. */
  async function linked() {
    const base = realpathSync(folder());
    const made = 'git init -q main && cd main && git commit -q --allow-empty -m m && git worktree add -q ../tree';
    expect((await bash(made, { cwd: base, env })).exitCode).toBe(0);
    return { base, cwd: join(base, 'tree'), git: join(base, 'main/.git') };
  }

  test('a commit in a linked work tree works, and the result names what may be changed', async () => {
    const { cwd, git } = await linked();
    const commit = 'echo a > a && git add a && git commit -qm a && git gc -q && git log -1 --format=%s';
    const { stdout, stderr, confinement, notes } = await bash(commit, { cwd, env, confine: 'workspace' });
    expect([stdout, stderr, aboutGit(notes)]).toEqual(['a\n', '', []]);
    expect(confinement).toMatchObject({
      write: [git, cwd],
      way: withoutNamespaces ? 'listener' : 'namespaces',
      denied: [],
    });
  });

  test('with none and read-only nothing outside can be changed', async () => {
    const { cwd } = await linked();
    for (const confine of [{ git: 'none' as const }, { profile: 'read-only' as const, write: [cwd] }]) {
      const { exitCode, confinement, notes } = await bash('git tag t', { cwd, confine });
      expect([exitCode, confinement?.write, aboutGit(notes)]).toEqual([128, [cwd], []]);
    }
  });

  test('hooks, and the state of other work trees, are denied and listed', async () => {
    const { cwd, git } = await linked();
    for (const path of ['hooks/pre-commit', 'config', 'HEAD', 'index', 'worktrees/tree/commondir', 'commondir']) {
      const { exitCode, confinement } = await bash(`echo x > ${join(git, path)}`, { cwd, confine: 'workspace' });
      expect(exitCode, path).not.toBe(0);
      expect(confinement?.denied, path).toMatchObject([{ kind: 'write', target: join(git, path), grant: null }]);
    }
  });

  test('a repository that leads elsewhere gets a note, and the command runs', async () => {
    const { base, git } = await linked();
    const cwd = join(base, 'other');
    mkdirSync(cwd);
    writeFileSync(join(cwd, '.git'), `gitdir: ${git}/worktrees/tree\n`);
    const { exitCode, confinement, notes } = await bash('true', { cwd, confine: 'workspace' });
    expect([exitCode, confinement?.write]).toEqual([0, [cwd]]);
    expect(aboutGit(notes)).toEqual([
      expect.stringMatching(/^git cannot write in .*worktrees\/tree: .* leads to another work tree/),
    ]);
  });

  test('the removal of a directory that is not empty is no denial where it is pinned', async () => {
    const cwd = folder();
    const made =
      'git init -q . && mkdir sub && echo a > sub/f && git add sub && git commit -qm m && git init -q sub/deep';
    expect((await bash(made, { cwd, env })).exitCode).toBe(0);
    const { confinement } = await bash('git rm -q sub/f; rmdir sub', { cwd, env, confine: 'workspace' });
    expect(confinement?.denied).toEqual([]);
    // Only protected entries are left.
    const clear = `python3 -c '
import os, shutil
for entry in os.scandir("sub/deep/.git"):
    if entry.name not in ("hooks", "config"): (shutil.rmtree if entry.is_dir() else os.remove)(entry.path)
os.rmdir("sub/deep/.git")'`;
    const removed = await bash(clear, { cwd, confine: 'workspace' });
    expect(removed.confinement?.denied).toMatchObject([{ kind: 'write', target: join(cwd, 'sub/deep/.git') }]);
  });
});
