import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bash, undo } from 'agent-bash';
import { describe, expect } from 'vitest';
import { draftTest, project, treeOf } from './support.ts';

const COMMIT =
  'echo 1 >new && git add new && git -c user.name=t -c user.email=t@t commit -qm second && git log --format=%s';

/** Subjects of the commits that a person sees in a directory. */
const log = (cwd: string) => execFileSync('git', ['log', '--format=%s'], { cwd, encoding: 'utf8' });

describe('git in a draft', () => {
  draftTest('commits into the draft of the repository', async () => {
    const { root, open, tree } = project();
    const draft = await open();
    const before = tree();
    expect(await bash(COMMIT, { draft })).toMatchObject({ exitCode: 0, stdout: 'second\nfirst\n' });
    expect(tree()).toEqual(before);
    await draft.commit();
    expect(log(root)).toBe('second\nfirst\n');
  });

  draftTest('is told of in changes and receipts, as git says it', async () => {
    const { root, open, edit } = project();
    const head = (cwd: string) => execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' }).trim();
    const first = head(root);
    const draft = await open();
    expect((await draft.changes()).git).toEqual([]);
    const looked = await bash('git status; echo 1 >>a; git diff --stat', { draft, receipt: 'watch' });
    expect([looked.receipt?.git, (await draft.changes()).git]).toEqual([[], []]);
    const made = await bash(`${COMMIT} >/dev/null; git switch -qc other; git rev-parse HEAD`, {
      draft,
      receipt: 'watch',
    });
    const second = made.stdout.trim();
    const change = { repository: root, head: [first, second], branch: ['main', 'other'], stash: false, state: null };
    expect(made.receipt?.git).toEqual([{ ...change, index: true }]);
    expect((await draft.changes()).git).toEqual([{ ...change, index: true }]);
    expect((await draft.changes({ paths: ['a'] })).git).toEqual([]);
    const later = await bash('echo 2 >>a; git stash -q', { draft, receipt: 'watch' });
    expect(later.receipt?.git).toMatchObject([{ head: [second, second], branch: ['other', 'other'], stash: true }]);
    // The commit of a person moves the base alone.
    edit('git -c user.name=t -c user.email=t@t commit -q --allow-empty -m theirs');
    expect((await draft.changes()).git).toMatchObject([{ head: [head(root), second], branch: ['main', 'other'] }]);
    const gone = await bash('rm -rf .git', { draft, receipt: 'watch', safety: 'off' });
    expect(gone.receipt?.git).toMatchObject([{ head: [second, null], branch: ['other', null] }]);
  });

  draftTest('is told of in a repository that a command makes', async () => {
    const { root, open } = project();
    const draft = await open();
    const { receipt } = await bash(`mkdir sub; cd sub; git init -q -b trunk; ${COMMIT}`, { draft, receipt: 'watch' });
    const change = { repository: join(root, 'sub'), branch: [null, 'trunk'], index: true };
    expect(receipt?.git).toMatchObject([change]);
    expect((await draft.changes()).git).toMatchObject([change]);
  });

  draftTest('commits into the draft of a linked work tree, whose repository lies elsewhere', async () => {
    const { root, open, edit } = project();
    edit('git worktree add -q ../linked');
    const linked = join(dirname(root), 'linked');
    const draft = await open({ root: linked });
    const before = treeOf(dirname(root));
    expect(await bash(`${COMMIT}; git stash list; git branch other`, { draft })).toMatchObject({
      exitCode: 0,
      stdout: 'second\nfirst\n',
      confinement: { denied: [] },
    });
    expect(treeOf(dirname(root))).toEqual(before);
    const { created, git } = await draft.changes();
    expect(created.map(({ path }) => path)).toEqual([join(linked, 'new')]);
    expect(git).toMatchObject([{ repository: linked, branch: ['linked', 'linked'], index: true }]);
    expect(await draft.diff()).not.toContain('.git');
    const { undoId, conflicts } = await draft.commit();
    expect([conflicts, draft.state]).toEqual([[], 'committed']);
    expect([log(linked), log(root)]).toEqual(['second\nfirst\n', 'first\n']);
    expect(execFileSync('git', ['status', '--short'], { cwd: linked, encoding: 'utf8' })).toBe('');
    await undo(undoId);
    expect(log(linked)).toBe('first\n');
  });

  draftTest('commits into the draft of a directory below the top', async () => {
    const { root, open, tree } = project();
    const draft = await open({ root: join(root, 'src') });
    const before = tree();
    expect(await bash(COMMIT, { draft })).toMatchObject({ exitCode: 0, stdout: 'second\nfirst\n' });
    expect(tree()).toEqual(before);
    await draft.commit();
    expect([log(root), readFileSync(join(root, 'src/new'), 'utf8')]).toEqual(['second\nfirst\n', '1\n']);
  });

  draftTest('changes no repository that is not drafted', async () => {
    const { root, open, edit } = project();
    edit('mkdir -p outer/inner');
    const none = await open({ root: join(root, 'src'), confine: { git: 'none' } });
    const before = treeOf(join(root, '.git'));
    expect((await bash(COMMIT, { draft: none })).exitCode).not.toBe(0);
    expect(treeOf(join(root, '.git'))).toEqual(before);
    // A repository that has come later is not in the draft.
    const later = join(root, 'outer/inner');
    const draft = await open({ root: later });
    await bash('echo 1 >one; echo 2 >two', { draft });
    edit('git init -q outer');
    await draft.commit({ paths: ['one'] });
    const made = treeOf(join(root, 'outer/.git'));
    const refused = await bash('echo 1 >new; git add new', { draft });
    expect(refused.exitCode).not.toBe(0);
    expect(refused.notes.join()).toContain('the draft has begun without it');
    expect(treeOf(join(root, 'outer/.git'))).toEqual(made);
  });

  draftTest('is not led to a directory by a file that someone has forged', async () => {
    const { root, open } = project();
    const [forged, victim] = ['forged', 'victim'].map((name) => join(dirname(root), name)) as [string, string];
    for (const path of [forged, victim]) mkdirSync(path);
    execFileSync('bash', ['-c', `git init -q --bare ${victim}; echo 'gitdir: ${victim}' >${forged}/.git`]);
    const before = treeOf(victim);
    const draft = await open({ root: forged });
    const { exitCode } = await bash(`echo x >${victim}/config`, { draft });
    expect(exitCode).not.toBe(0);
    await draft.commit();
    expect(treeOf(victim)).toEqual(before);
  });
});
