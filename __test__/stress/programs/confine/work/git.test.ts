import { works } from '../../../../confine/support/work.ts';

/** A repository that is there before the commands, so that its configuration and hooks are protected. */
const REPOSITORY = `
  git init -q -b main; echo one >a; git add a; git commit -qm one; echo origin >>.git/info/exclude
  git init -q -b main origin; (cd origin; echo sub >s; git add s; git commit -qm sub)
  git -c protocol.file.allow=always submodule --quiet add "$PWD/origin" module
  git config -f .gitmodules submodule.module.url ./origin; git add .gitmodules; git commit -qm module`;

const QUIET = 'export GIT_ADVICE=0';

works(
  'git, in a repository that was there',
  [
    {
      name: 'status, diff, log and show',
      steps: ['echo two >>a; git status --short; git diff; git log --oneline; git show --stat'],
    },
    {
      name: 'commit',
      steps: [
        'echo two >>a; git commit -qam two; git log --oneline; git commit -q --amend -m three; git log -1 --format=%s',
      ],
    },
    {
      name: 'branch and checkout',
      steps: ['git branch b; git checkout -q b; git checkout -q -b c; git switch -q main; git branch'],
    },
    {
      name: 'rename and remove branches',
      steps: [
        'git branch old; git branch -m old new; git branch -d new; git checkout -q -b b; git branch -m c; git checkout -q main; git branch -D c; git branch',
      ],
    },
    {
      name: 'stash',
      steps: [
        'echo two >>a; git stash -q; cat a; git stash pop -q; cat a; git stash -q; git stash list | wc -l; git stash drop -q',
      ],
    },
    {
      name: 'merge',
      steps: [
        'git checkout -q -b b; echo b >b; git add b; git commit -qm b; git checkout -q main; echo c >c; git add c; git commit -qm c; git merge -q --no-edit b; git log --oneline --graph',
      ],
    },
    {
      name: 'a merge with a conflict',
      steps: [
        'git checkout -q -b b; echo b >a; git commit -qam b; git checkout -q main; echo c >a; git commit -qam c; git merge -q b && exit 1; echo d >a; git add a; git commit -qm d; git log --oneline',
      ],
    },
    {
      name: 'rebase',
      steps: [
        'git checkout -q -b b; echo b >b; git add b; git commit -qm b; git checkout -q main; echo c >c; git add c; git commit -qm c; git checkout -q b; git rebase -q main; git log --oneline',
      ],
    },
    {
      name: 'an interactive rebase',
      steps: [
        'for n in 1 2 3; do echo $n >>a; git commit -qam $n; done; GIT_SEQUENCE_EDITOR="sed -i s/^pick/fixup/\\;1s/^fixup/pick/" git rebase -q -i HEAD~3; git log --oneline',
      ],
    },
    {
      name: 'cherry-pick, revert, reset and tag',
      steps: [
        'git checkout -q -b b; echo b >b; git add b; git commit -qm b; git tag t; git checkout -q main; git cherry-pick b >/dev/null; git revert --no-edit HEAD >/dev/null; git reset -q --hard HEAD~1; git tag; git log --oneline',
      ],
    },
    {
      name: 'a worktree',
      steps: [
        'git worktree add -q tree; cd tree; echo t >t; git add t; git commit -qm t; git log --oneline; cd ..; git worktree remove --force tree; git worktree list | wc -l; git branch',
      ],
    },
    {
      name: 'a submodule',
      steps: [
        'cd module; git log --oneline; echo m >>s; git commit -qam m; cd ..; git add module; git commit -qm moved; git submodule status | cut -c1-8; git log --oneline',
      ],
    },
    {
      name: 'clean, gc and fsck',
      steps: ['echo x >x; git clean -fdq -e origin; git gc -q; git fsck --no-dangling; ls'],
    },
    {
      name: 'fetch from a repository beside it',
      steps: [
        'cd origin; echo more >>s; git commit -qam more; cd ..; git fetch -q ./origin main; git log -1 --format=%s FETCH_HEAD',
      ],
    },
    { name: 'a clone', steps: ['git clone -q origin copy; cd copy; git log --oneline; git remote -v | sed s,.*/,,'] },
    {
      name: 'apply, am and format-patch',
      steps: [
        'echo two >>a; git commit -qam two; git format-patch -1 -o out >/dev/null; git reset -q --hard HEAD~1; git am -q out/*.patch; git log --oneline; git diff HEAD~1 >p; git apply -R p; cat a',
      ],
    },
    {
      name: 'several commands, one after the other',
      steps: ['git checkout -q -b b', 'echo b >b; git add b', 'git commit -qm b', 'git log --oneline'],
    },
  ].map((row) => ({ ...row, before: REPOSITORY, files: ['a', 'b', 'c', '.git/HEAD', '.git/refs'] })),
);

works('git, in a new repository', [
  {
    name: 'init and all that follows',
    steps: [
      `${QUIET}; git init -q -b main; git config user.name b; echo a >a; git add a; git commit -qm a; git remote add origin ./o; git branch b; git config --list --local | sort`,
    ],
  },
  {
    name: 'init below',
    steps: ['mkdir -p x/y; cd x/y; git init -q -b main; echo a >a; git add a; git commit -qm a; git log --oneline'],
  },
  {
    name: 'a hook of its own',
    steps: [
      'git init -q -b main; printf "#!/bin/sh\\necho hooked\\n" >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git commit -q --allow-empty -m a 2>&1',
    ],
  },
  {
    name: 'clone and push',
    steps: [
      'git init -q --bare -b main o; git clone -q o c 2>/dev/null; cd c; git checkout -q -b main; echo a >a; git add a; git commit -qm a; git push -q -u origin main; cd ..; git -C o log --oneline main; git clone -q o d; cat d/a; git -C d pull -q; git -C d status -sb',
    ],
  },
  {
    name: 'submodules',
    steps: [
      'git init -q -b main s; git -C s commit -q --allow-empty -m s; git init -q -b main m; cd m; git -c protocol.file.allow=always submodule --quiet add "$PWD/../s" s; git commit -qm m; cd ..; git clone -q m c; cd c; git -c protocol.file.allow=always submodule --quiet update --init; git -C s log --oneline',
    ],
  },
  {
    name: 'worktrees',
    steps: [
      'git init -q -b main m; cd m; git commit -q --allow-empty -m m; git worktree add -q ../t; cd ../t; git commit -q --allow-empty -m t; git log --oneline; cd ../m; git worktree remove ../t; git worktree prune; git branch',
    ],
  },
]);
