import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, BashSession, bash, undo } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, testNeeding, WAIT } from '../../support/index.ts';
import { users } from '../support/users.ts';

const GIT = 'git -c user.name=a -c user.email=b@c';
const EVIL = '"touch $PWD/../ran; false"';

/** What a user does later, outside. */
function outside(cwd: string, command: string): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: 'true' };
  const { stdout, stderr } = spawnSync('bash', ['-c', command], { cwd, env, encoding: 'utf8' });
  return stdout + stderr;
}

const user = users.at(-1);

const isAside = (note: string) => note.includes('.agent-bash');

/** A hook that runs in a directory of the workspace. */
const HOOK = (hooks: string) =>
  `mkdir -p ${hooks}; printf "#!/bin/sh\\ntouch ../ran\\n" > ${hooks}/pre-commit; chmod +x ${hooks}/pre-commit`;
const SUB = `git init -q sub; ${GIT} -C sub commit -q --allow-empty -m s`;
const ATTACKS: [string, string, string, string][] = [
  [
    'settings of a submodule',
    `${SUB}; git -C sub config core.fsmonitor EVIL; git add sub`,
    'git status',
    'sub/.git/config',
  ],
  [
    'settings of a plain repository',
    'git init -q sub; git -C sub config core.fsmonitor EVIL',
    'cd sub; git status',
    'sub/.git/config',
  ],
  [
    'settings of a bare repository',
    'git init -q --bare docs; git -C docs config core.bare false; git -C docs config core.worktree .; git -C docs config core.fsmonitor EVIL',
    'cd docs; git status',
    'docs/config',
  ],
  [
    'a repository that was moved',
    'mkdir a; git init -q a/x; git -C a/x config core.fsmonitor EVIL; mv a b',
    'cd b/x; git status',
    'b/x/.git/config',
  ],
  [
    'a repository that was made in parts',
    'mkdir y; git init -q z; git -C z config core.fsmonitor EVIL; mv z/.git/* y; mkdir w; mv y w/.git',
    'cd w; git status',
    'w/.git/config',
  ],
  [
    'hooks in a directory with the name of a switch',
    `git init -q sub; mkdir sub/1; ${HOOK('sub/1')}; git -C sub config core.hooksPath 1`,
    `cd sub; ${GIT} commit -q --allow-empty -m x`,
    'sub/.git/config',
  ],
  [
    'an included file with the name of a switch',
    'git init -q sub; git config -f sub/.git/1 core.fsmonitor EVIL; git -C sub config include.path 1',
    'cd sub; git status',
    'sub/.git/config',
  ],
  [
    'a work tree outside',
    'git init -q sub; git -C sub config core.worktree "$PWD/.."; echo a > ran; git -C sub add "$PWD/ran"; rm ran',
    'cd sub; git checkout .',
    'sub/.git/config',
  ],
  [
    'a repository behind two thousand directories like one',
    `python3 -c "import os; [os.makedirs(f'a/{i}/hooks') for i in range(2100)]"; git init -q sub; ${HOOK('sub/.git/hooks')}`,
    `cd sub; ${GIT} commit -q --allow-empty -m x`,
    'sub/.git/hooks/pre-commit',
  ],
  ['an alias', 'git init -q sub; git -C sub config alias.st "!touch ../ran"', 'cd sub; git st', 'sub/.git/config'],
  [
    'an included file',
    'git init -q sub; git -C sub config include.path ../../inc; git config -f inc core.fsmonitor EVIL',
    'cd sub; git status',
    'sub/.git/config',
  ],
  [
    'a common directory',
    'git init -q c; mv c/.git common; git init -q --separate-git-dir=g wt; rm -r g/objects g/refs g/config; echo "$PWD/common" > g/commondir; git config -f common/config core.fsmonitor EVIL; git config -f common/config core.bare false',
    'cd wt; git status',
    'common/config',
  ],
  [
    'a hook',
    `git init -q sub; ${HOOK('sub/.git/hooks')}`,
    `cd sub; ${GIT} commit -q --allow-empty -m x`,
    'sub/.git/hooks/pre-commit',
  ],
  [
    'hooks behind a link',
    `git init -q sub; ${HOOK('h')}; rm -r sub/.git/hooks; ln -s ../../h sub/.git/hooks`,
    `cd sub; ${GIT} commit -q --allow-empty -m x`,
    'sub/.git/hooks',
  ],
];

describe.runIf(process.platform === 'linux')('what a command leaves in a repository', () => {
  test.each(ATTACKS)('is put out of force: %s', async (_, command, later, target) => {
    const cwd = folder();
    outside(cwd, `git init -q .; ${GIT} commit -q --allow-empty -m one`);
    const result = await bash(command.replaceAll('EVIL', EVIL), { cwd, confine: 'workspace', timeoutMs: WAIT });
    const said = outside(cwd, later);
    expect(
      [(readdirSync(cwd, { recursive: true }) as string[]).includes('ran'), existsSync(join(cwd, '../ran'))],
      said,
    ).toEqual([false, false]);
    expect(result.confinement?.denied, JSON.stringify(result)).toMatchObject([
      { kind: 'write', target: join(cwd, target) },
    ]);
    expect(result.notes.join()).toContain(`${join(cwd, target)}.agent-bash`);
  });

  test('in a workspace without a repository', async () => {
    const cwd = folder();
    const hook = 'printf "#!/bin/sh\\ntouch ran\\n" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit';
    await bash(`git init -q .; ${hook}`, { cwd, confine: 'workspace' });
    outside(cwd, `${GIT} commit -q --allow-empty -m x`);
    expect(readdirSync(cwd)).toEqual(['.git']);
  });

  test('as steps of a rebase', async () => {
    const cwd = folder();
    outside(cwd, `git init -q .; ${GIT} commit -q --allow-empty -m one; ${GIT} commit -q --allow-empty -m two`);
    const editor = `GIT_SEQUENCE_EDITOR='printf "break\\nexec touch ran\\nx touch ran\\n" >'`;
    const { notes } = await bash(`${editor} ${GIT} rebase -q -i --root`, { cwd, confine: 'workspace' });
    outside(cwd, `${GIT} rebase --continue`);
    expect([readdirSync(cwd), notes.filter(isAside).length]).toEqual([['.git'], 1]);
  });

  test.each([
    ['rebase', 'rebase -q main', 'echo ../x > .git/rebase-merge/strategy', 'rebase --continue'],
    [
      'cherry-pick',
      'cherry-pick main~1 main',
      'git config -f .git/sequencer/opts options.strategy ../x',
      'cherry-pick --skip',
    ],
  ])('as the strategy of a %s', async (_, stop, strategy, later) => {
    const cwd = folder();
    const commit = (text: string) => `echo ${text} > f; git add f; ${GIT} commit -qm ${text}`;
    const branches = `git init -qb main .; ${commit('a')}; git branch t; ${commit('b')}; ${commit('c')}; git switch -q t`;
    outside(cwd, `${branches}; ${commit('d')}; ${commit('e')}; ${GIT} ${stop}`);
    const program = 'mkdir "git-merge-.."; printf "#!/bin/sh\\ntouch ran\\n" > git-merge-../x; chmod +x git-merge-../x';
    const { notes } = await bash(`${program}; ${strategy}`, { cwd, confine: 'workspace' });
    outside(cwd, `git checkout -qf HEAD; ${GIT} ${later}`);
    expect([readdirSync(cwd).includes('ran'), notes.filter(isAside).length]).toEqual([false, 1]);
  });

  test('before the rest of the repository follows', async () => {
    const cwd = folder();
    const parts = 'mkdir -p sub/.git/refs sub/.git/later; echo "ref: refs/heads/main" > sub/.git/HEAD';
    await bash(`${parts}; ${HOOK('sub/.git/hooks')}`, { cwd, confine: 'workspace' });
    await bash('mv sub/.git/later sub/.git/objects', { cwd, confine: 'workspace' });
    outside(join(cwd, 'sub'), `${GIT} commit -q --allow-empty -m x`);
    expect(readdirSync(cwd)).toEqual(['sub']);
  });

  testNeeding('an ordinary user to run as', user?.able === true).each(['sub', 'sub/.git', 'sub/.git/hooks'])(
    'although the command may not look into %s any more',
    async (locked) => {
      const cwd = folder();
      chownSync(cwd, user?.uid ?? 0, user?.gid ?? 0);
      const script = `
        import { bash } from '${import.meta.resolve('agent-bash')}';
        const options = { cwd: '.', confine: 'workspace' };
        await bash(process.env.MAKE, options);
        await bash('chmod 755 ${locked}', options);`;
      const MAKE = `git init -q sub; ${HOOK('sub/.git/hooks')}; chmod 100 ${locked}`;
      const { uid, gid } = user ?? {};
      const env = { ...process.env, HOME: cwd, MAKE };
      const args = ['--input-type=module', '-e', script];
      const { stdout, stderr } = spawnSync(process.execPath, args, { cwd, uid, gid, env, encoding: 'utf8' });
      expect([stdout, stderr]).toEqual(['', '']);
      outside(join(cwd, 'sub'), `${GIT} -c safe.directory=* commit -q --allow-empty -m x`);
      expect(readdirSync(cwd)).toEqual(['sub']);
    },
  );

  test('also if a process is left that has the settings open', async () => {
    const cwd = folder();
    const late = `(exec 3>> sub/.git/config; touch ready; sleep .5; printf '[core]\\nfsmonitor = touch ../ran\\n' >&3) &`;
    await bash(`git init -q sub; ${late} until [ -e ready ]; do sleep .01; done`, { cwd, confine: 'workspace' });
    await new Promise((done) => setTimeout(done, 900));
    outside(join(cwd, 'sub'), 'git status');
    expect(readdirSync(cwd).sort()).toEqual(['ready', 'sub']);
  });

  test('unless the host allows it', async () => {
    const cwd = folder();
    await bash('git init -q sub; git -C sub config core.pager less', { cwd, confine: { protect: [] } });
    expect(readFileSync(join(cwd, 'sub/.git/config'), 'utf8')).toContain('less');
  });

  test('and ordinary repositories stay as they are', async () => {
    const cwd = folder();
    const command = `
      git init -q one && cd one && git config user.name a && git config user.email b && git config pull.rebase true
      echo x > x && git add x && git commit -qm x && cd .. && git clone -q one two && cd two
      git -c protocol.file.allow=always submodule --quiet add ../one sub && git commit -qm sub
      git worktree add -q ../three && git gc -q && git -C ../three status -s
      printf "#!/bin/sh\\ntouch hooked\\n" > .git/hooks/post-commit; chmod +x .git/hooks/post-commit
      git commit -q --allow-empty -m hook; ls hooked; rm .git/hooks/post-commit`;
    const options: BashOptions = { cwd, confine: 'workspace', timeoutMs: WAIT };
    options.env = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'b' };
    const { exitCode, stdout, stderr, confinement, notes } = await bash(command, options);
    expect([exitCode, stdout, stderr, confinement?.denied, notes.filter(isAside)]).toEqual([0, 'hooked\n', '', [], []]);
    expect(outside(join(cwd, 'two'), 'git status -s; git config pull.rebase; git -C ../one config pull.rebase')).toBe(
      '?? hooked\ntrue\n',
    );
  });

  test('is in the receipt, and undone', async () => {
    const cwd = folder();
    writeFileSync(join(cwd, 'a'), '');
    await using session = new BashSession({
      cwd,
      confine: 'workspace',
      receipt: 'exact',
      undo: { when: 'always', require: true },
    });
    const { receipt, runId } = await session.run('git init -q sub; git -C sub config core.pager less; true');
    const cut = await bash('true', { cwd, confine: 'workspace' });
    expect([receipt?.state, cut.exitCode]).toEqual(['known', 0]);
    await undo(runId);
    expect(readdirSync(cwd)).toEqual(['a']);
  });
});
