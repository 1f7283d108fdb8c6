import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Attack, changed, type Sees } from '../../../../confine/support/attack.ts';
import type { Site } from '../../../../confine/support/site.ts';

/** The protected names of the default list whose absence is guarded, as files and as directories. */
const FILES = [
  '.mcp.json',
  '.envrc',
  '.gitconfig',
  '.npmrc',
  '.bash_profile',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.bash_login',
  '.bash_logout',
  '.zprofile',
  '.zlogin',
  '.zlogout',
];
const DIRECTORIES = ['.idea', '.cursor'];

/** Appends to a protected file or directory of the repository that exists. */
const existing = (path: string): Attack => ({
  name: `changes ${path}`,
  script: `if [ -d '${path}' ]; then echo x >'${path}/fresh'; else echo x >>'${path}'; fi`,
  sees: changed(`work/${path}`),
  repository: true,
});

const missing = (path: string): Attack => ({
  name: `creates ${path}`,
  script: `echo x >'${path}'`,
  sees: changed(`work/${path}`),
});

/** Creates `.envrc`, which does not exist, in one way. */
const way = (name: string, script: string, more: Partial<Attack> = {}): Attack => ({
  name: `creates a protected name: ${name}`,
  script,
  sees: changed('work/.envrc'),
  ...more,
});

/** Gets at a hook of the repository in one way. */
const hook = (name: string, script: string, sees: Sees = changed('work/.git/hooks')): Attack => ({
  name: `plants a hook: ${name}`,
  script,
  sees,
  repository: true,
});

/** A directory that every user may change. */
function directory({ work }: Site, name: string): void {
  mkdirSync(join(work, name));
  chmodSync(join(work, name), 0o777);
}

const python = (code: string) => `python3 -c 'import os, socket; ${code}'`;

/** Protected names inside the write roots, those that exist and those that do not. */
export const protectedNames: Attack[] = [
  ...['.git/hooks', '.git/config', '.git/hooks/pre-commit.sample', 'nested/.git/hooks', 'nested/.git/config'].map(
    existing,
  ),
  ...['module/.git', 'tree/.git', '.git/modules/module/hooks', '.git/modules/module/config'].map(existing),
  ...['.vscode', '.vscode/settings.json', '.claude', '.claude/settings.json', '.bashrc'].map(existing),
  ...FILES.map(missing),
  ...DIRECTORIES.map((name) => ({ ...missing(name), script: `mkdir '${name}' && echo x >'${name}/x'` })),
  ...['.mcp.json', '.envrc', '.npmrc'].map((name) => ({
    ...missing(`nested/${name}`),
    repository: true as const,
    name: `creates ${name} of a nested repository`,
  })),
  way('touch', 'touch .envrc'),
  way('a path with dots', 'mkdir a; echo x >././a/../.envrc'),
  way('an absolute path', 'cd /; echo x >"$WORK/.envrc"'),
  way('a path with slashes', 'mkdir .envrc//'),
  way('/proc/self/cwd', 'echo x >/proc/self/cwd/.envrc'),
  way('/proc/self/root', 'echo x >"/proc/self/root$WORK/.envrc"'),
  way('a descriptor of the directory', 'exec 9<.; echo x >/proc/self/fd/9/.envrc'),
  way('openat', 'attack dirfd . .envrc x'),
  way('openat2', 'attack openat2 .envrc x'),
  way('creat', 'attack creat .envrc x'),
  way('mkdir', 'attack mkdir .envrc'),
  way('mkdirat', 'mkdir .envrc'),
  way('mknod', 'attack mknod .envrc'),
  way('mknodat', 'attack mknodat .envrc'),
  way('a FIFO', 'mkfifo .envrc'),
  way('a hard link', 'ln notes .envrc'),
  way('a symbolic link', 'ln -s notes .envrc'),
  way('link in Python', python('os.link("notes", ".envrc")')),
  way('rename', 'mv notes .envrc'),
  way('rename in Python', python('os.rename("notes", ".envrc")')),
  way('rename without replacing', 'attack renameat2 notes .envrc'),
  way('rename of a directory', 'mkdir a; mv -T a .envrc'),
  way('rename of what was made below', 'mkdir a; echo x >a/.envrc; mv a/.envrc .'),
  way('an unnamed file', 'attack tmpfile . .envrc x'),
  way('an unnamed file by descriptor', 'attack tmpfile-there . .envrc x'),
  way('a dangling link', 'ln -s .envrc a; echo x >a'),
  way('a chain of links', 'ln -s .envrc a; ln -s a b; mkdir d; ln -s ../b d/c; echo x >d/c'),
  way('a link to the directory', 'ln -s . a; echo x >a/.envrc'),
  way('a link with an absolute target', 'ln -s "$WORK/.envrc" a; echo x >a'),
  way('a socket', python('socket.socket(socket.AF_UNIX).bind(".envrc")')),
  way('a socket by an absolute path', python('socket.socket(socket.AF_UNIX).bind(os.environ["WORK"] + "/.envrc")')),
  way('a ring', 'attack ring-file .envrc x'),
  way('a directory by a ring', 'attack ring-mkdir .envrc'),
  way('entry points of 32 bits', 'attack int80-open .envrc x', {
    lacks: process.arch === 'x64' ? undefined : 'entry points of 32 bits',
  }),
  way('cp', 'cp notes .envrc'),
  way('dd', 'dd if=notes of=.envrc 2>/dev/null'),
  way('tar', 'mkdir a; cp notes a/.envrc; tar -C a -cf a.tar .envrc; tar -xf a.tar'),
  way('Node', `node -e 'fs.writeFileSync(".envrc", "x")'`),
  way('rename in Node', `node -e 'fs.renameSync("notes", ".envrc")'`),
  way(
    'a thread',
    python('import threading; t = threading.Thread(target=lambda: open(".envrc", "w")); t.start(); t.join()'),
  ),
  way(
    'a daemon',
    `(setsid bash -c 'until [ -e go ]; do :; done; echo x >.envrc; touch done' &)
                   touch go; until [ -e done ]; do :; done`,
  ),
  way('a link from outside that leads in', 'echo x >../door/.envrc', {
    before: ({ path, work }) => symlinkSync(work, `${path}/door`),
  }),
  hook('mv', 'echo x >h; mv h .git/hooks/pre-commit'),
  hook('ln', 'echo x >h; ln h .git/hooks/pre-commit'),
  hook('a symbolic link', 'ln -s ../../notes .git/hooks/pre-commit'),
  hook('a link to the directory', 'ln -s .git/hooks h; echo x >h/pre-commit'),
  hook('chmod', 'chmod 777 .git/hooks'),
  hook('removal', 'rm -rf .git/hooks'),
  hook('rename of hooks', 'mv .git/hooks .git/old; mkdir .git/hooks'),
  hook('rename of .git', 'mv .git old; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit'),
  {
    ...hook('removal of .git', 'bash ./plant'),
    before: ({ work }) =>
      writeFileSync(`${work}/plant`, 'rm -rf .git; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit'),
  },
  hook('exchange of .git', 'mkdir -p a/hooks; attack exchange a .git'),
  hook('exchange of hooks', 'mkdir a; attack exchange a .git/hooks'),
  hook(
    'a hard link of the configuration',
    'ln .git/config c; echo "[core] hooksPath=x" >>c',
    changed('work/.git/config'),
  ),
  hook('git config', 'git config core.hooksPath /tmp', changed('work/.git/config')),
  hook('replacement of the configuration', 'echo x >c; mv c .git/config', changed('work/.git/config')),
  hook(
    'the lock of the configuration',
    'echo x >.git/config.lock; mv .git/config.lock .git/config',
    changed('work/.git/config'),
  ),
  hook(
    'rename of a repository',
    'mv nested old; mkdir -p nested/.git/hooks; echo x >nested/.git/hooks/h',
    changed('work/nested/.git/hooks'),
  ),
  hook('removal of a repository', 'rm -rf nested; mkdir -p nested/.git/hooks', changed('work/nested/.git/hooks')),
  hook(
    'another repository of a submodule',
    'rm module/.git; cp -r nested/.git module/.git',
    changed('work/module/.git'),
  ),
  hook('another repository of a worktree', 'echo "gitdir: /tmp/x" >tree/.git', changed('work/tree/.git')),
  hook('rename of a worktree', 'mv tree old; mkdir tree; echo x >tree/.git', changed('work/tree/.git')),
  hook(
    'rename of the modules',
    'mv .git/modules .git/old; cp -r .git/old .git/modules; echo x >.git/modules/module/hooks/h',
    changed('work/.git/modules/module/hooks'),
  ),
  hook('a mapping of the configuration', 'attack mapping .git/config "#"', changed('work/.git/config')),
  hook('an O_PATH descriptor', 'attack reopen .git/config "#"', changed('work/.git/config')),
  hook('a ring', 'attack ring-file .git/hooks/h x'),
  {
    name: 'changes what a protected link leads to',
    script: 'echo x >>.envrc; rm -f kept',
    sees: changed('work/kept'),
    before: ({ work }) => {
      writeFileSync(`${work}/kept`, '');
      symlinkSync('kept', `${work}/.envrc`);
    },
  },
  {
    name: 'changes what a protected directory leads to',
    script: 'echo x >>.vscode/settings.json; rm -f elsewhere/editor/settings.json',
    sees: changed('work/elsewhere'),
    before: (site) => {
      for (const path of ['elsewhere', 'elsewhere/editor']) directory(site, path);
      writeFileSync(`${site.work}/elsewhere/editor/settings.json`, '');
      symlinkSync('editor', `${site.work}/elsewhere/link`);
      symlinkSync(`${site.work}/elsewhere/../elsewhere/link`, `${site.work}/.vscode`);
    },
  },
  {
    name: 'creates what a protected link leads to',
    script: 'echo x >fresh',
    sees: changed('work/fresh'),
    before: ({ work }) => symlinkSync('./fresh', `${work}/.envrc`),
  },
  {
    name: 'changes a protected path of its caller',
    script: 'echo x >>kept; rm -f kept',
    sees: changed('work/kept'),
    before: ({ work }) => writeFileSync(`${work}/kept`, '', { mode: 0o666 }),
    confine: () => ({ protect: ['kept'] }),
  },
  {
    name: 'creates a protected path of its caller',
    script: 'mkdir -p deep && echo x >deep/kept',
    sees: changed('work/deep/kept'),
    confine: ({ work }) => ({ protect: [`${work}/deep/kept`] }),
  },
];
