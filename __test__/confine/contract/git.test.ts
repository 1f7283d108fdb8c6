import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder } from '../../support/index.ts';

describe.runIf(process.platform === 'linux')('git outside of the write roots', () => {
  const GIT = `
    export HOME=/nonexistent GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
    set -e`;

  /** A repository with a linked work tree, which is the directory of the commands. */
  async function linked() {
    const base = realpathSync(folder());
    await bash(`${GIT}; git init -q main; cd main; git commit -q --allow-empty -m m; git worktree add -q ../tree`, {
      cwd: base,
    });
    return { base, cwd: join(base, 'tree'), git: join(base, 'main/.git') };
  }

  test('a commit in a linked work tree works, and the result names what may be changed', async () => {
    const { cwd, git } = await linked();
    const commit = `${GIT}; echo a > a; git add a; git commit -qm a; git gc -q; git log -1 --format=%s`;
    const { stdout, stderr, confinement, notes } = await bash(commit, { cwd, confine: 'workspace' });
    expect([stdout, stderr, notes]).toEqual(['a\n', '', []]);
    expect(confinement).toMatchObject({ write: [git, cwd], way: 'namespaces', denied: [] });
  });

  test('with none and read-only nothing outside can be changed', async () => {
    const { cwd } = await linked();
    for (const confine of [{ git: 'none' }, { profile: 'read-only', write: [cwd] }] as const) {
      const { stderr, confinement, notes } = await bash('git tag t', { cwd, confine });
      expect([confinement?.write, notes, stderr]).toEqual([[cwd], [], expect.stringContaining('Read-only file system')]);
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
    expect(notes).toEqual([expect.stringMatching(/^git cannot write in .*worktrees\/tree: .* leads to another work tree/)]);
  });

  test('the removal of a directory that is not empty is no denial where it is pinned', async () => {
    const cwd = folder();
    await bash(`${GIT}; git init -q .; mkdir sub; echo a > sub/f; git add .; git commit -qm m; git init -q sub/deep`, { cwd });
    const stash = `${GIT}; git rm -rq --cached sub/f; rm sub/f; rmdir sub || true`;
    const { confinement } = await bash(stash, { cwd, confine: 'workspace' });
    expect(confinement?.denied).toEqual([]);
    const removed = await bash('rm -rf sub', { cwd, confine: 'workspace' });
    expect(removed.confinement?.denied).toMatchObject([{ kind: 'write', target: join(cwd, 'sub') }]);
  });
});
