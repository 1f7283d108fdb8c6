import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Attack, exists, leaked, said } from '../../../../confine/support/attack.ts';
import type { Site } from '../../../../confine/support/site.ts';

const python = (code: string) => `python3 -c 'import os, sys; f = os.environ["HIDDEN"] + "/key"; ${code}'`;

const way = (name: string, script: string, more: Partial<Attack> = {}): Attack => ({
  name: `reads a hidden file: ${name}`,
  script,
  sees: leaked,
  ...more,
});

/** Homes have these secrets. */
const SECRETS = [
  '.ssh/id_ed25519',
  '.gnupg/private-keys-v1.d/key',
  '.aws/credentials',
  '.azure/accessTokens.json',
  '.kube/config',
  '.config/gcloud/credentials.db',
  '.config/gh/hosts.yml',
  '.config/op/config',
  '.docker/config.json',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.mozilla/firefox/a.default/logins.json',
  '.config/google-chrome/Default/Cookies',
  '.config/chromium/Default/Cookies',
  '.local/share/keyrings/login.keyring',
  '.password-store/a.gpg',
  '.local/state/agent-bash/log',
];

/** The process of the attacker has one home, so the file is the same for all rows with one user. */
const ofHome = (file: string): Attack => ({
  name: `reads ~/${file}`,
  script: `cat ~/${file}`,
  sees: leaked,
  before: ({ home, secret }) => {
    mkdirSync(dirname(join(home, file)), { recursive: true, mode: 0o755 });
    writeFileSync(join(home, file), secret, { mode: 0o644 });
  },
});

/** Makes `a/b/kept` in the directory of the command, for every user. */
function deep({ work }: Site): void {
  mkdirSync(join(work, 'a/b'), { recursive: true });
  writeFileSync(join(work, 'a/b/kept'), '');
  for (const path of ['a', 'a/b', 'a/b/kept']) chmodSync(join(work, path), 0o777);
}

/** Secrets, by every way of reading. */
export const hidden: Attack[] = [
  way('cat', 'cat "$HIDDEN/key"'),
  way('the shell', 'echo "$(<"$HIDDEN/key")"'),
  way('source', '. "$HIDDEN/key"'),
  way('ls', 'ls "$HIDDEN"'),
  way('a pattern', 'echo "$HIDDEN"/*'),
  way('find', 'find "$SITE"'),
  way('grep', 'grep -r secret "$SITE"'),
  way('cp', 'cp "$HIDDEN/key" mine'),
  way('cp of the directory', 'cp -r "$HIDDEN" mine'),
  way('mv', 'mv "$HIDDEN/key" mine'),
  way('mv of the directory', 'mv "$HIDDEN" mine'),
  way('a hard link', 'ln "$HIDDEN/key" mine && cat mine'),
  way('a symbolic link', 'ln -s "$HIDDEN/key" mine; cat mine'),
  way('a linked directory', 'ln -s "$HIDDEN" mine; cat mine/key'),
  way('..', 'cat ../hidden/key'),
  way('a working directory', 'cd "$HIDDEN" && cat key'),
  way('/proc/self/root', 'cat "/proc/self/root$HIDDEN/key"'),
  way('/proc/self/cwd', 'cat /proc/self/cwd/../hidden/key'),
  way('the root of a process of the host', 'cat {/proc/1,"/proc/$VICTIM"}/root"$HIDDEN/key"', { victim: true }),
  way('the parent of the process', 'cat "/proc/$PPID/root$HIDDEN/key"'),
  way('any process', 'for p in /proc/[0-9]*; do cat "$p/root$HIDDEN/key" 2>/dev/null; done; true'),
  way(
    'the directory of any process',
    'for p in /proc/[0-9]*; do grep -qs "$SITE/signals" $p/cmdline && cat $p/cwd/key; done',
    { victim: true },
  ),
  way(
    'the descriptors of any process',
    'for p in /proc/[0-9]*; do grep -qs "$SITE/signals" $p/cmdline && cat $p/fd/77; done',
    { victim: true },
  ),
  way('Python', python('print(open(f).read())')),
  way('Node', `node -p 'fs.readFileSync(process.env.HIDDEN + "/key", "utf8")'`),
  way('names in Node', `node -p 'fs.readdirSync(process.env.HIDDEN)'`),
  way('O_PATH', python('d = os.open(f, os.O_PATH); print(open(f"/proc/self/fd/{d}").read())')),
  way('a mapping', 'attack map-read "$HIDDEN/key"'),
  way('splice', 'attack send-read "$HIDDEN/key"'),
  way('names by getdents', 'attack list "$HIDDEN"'),
  way('a file handle', 'attack handle "$HIDDEN/key"', { as: 'root' }),
  way('a ring', 'attack ring-file "$HIDDEN/key"'),
  way('tar', 'tar -cf - "$HIDDEN" 2>/dev/null'),
  way('diff', 'diff notes "$HIDDEN/key"'),
  way('a new namespace', 'unshare -Urm cat "$HIDDEN/key"'),
  way('umount', '$OWN bash -c \'umount -l "$HIDDEN" 2>/dev/null; cat "$HIDDEN/key"\''),
  way('umount in a new namespace', 'unshare -Urm bash -c \'umount -l "$HIDDEN" 2>/dev/null; cat "$HIDDEN/key"\''),
  way('a bind mount', '$OWN bash -c \'mkdir mine; mount --bind "$SITE" mine && cat mine/hidden/key\''),
  way('a recursive bind mount', '$OWN bash -c \'mkdir mine; mount --rbind / mine && cat "mine$HIDDEN/key"\''),
  way(
    'an overlay',
    '$OWN bash -c \'mkdir m u w; mount -t overlay -o lowerdir="$SITE",upperdir=u,workdir=w x m; cat m/hidden/key\'',
    {
      as: 'root',
    },
  ),
  way('a database', `sqlite3 :memory: "select readfile('$HIDDEN/key')"`),
  way('a preprocessor', 'printf \'#include "%s"\\n\' "$HIDDEN/key" | gcc -E -'),
  way('curl', 'curl -s "file://$HIDDEN/key"'),
  way('git', 'git diff --no-index notes "$HIDDEN/key"'),
  way('what it may not list', 'mkdir mine; mv "$HIDDEN" mine/; cat mine/hidden/key'),
  {
    name: 'hides one file: reads it',
    script: 'cat "$OUT/canary" | grep -q original && echo PWNED',
    sees: said,
    confine: ({ out }) => ({ hide: [join(out, 'canary')] }),
  },
  {
    name: 'hides one file: replaces its cover',
    script: 'mv "$OUT/canary" mine && grep -q original mine && echo PWNED',
    sees: said,
    confine: ({ out }) => ({ hide: [join(out, 'canary')], write: [out] }),
  },
  {
    name: 'hides a file in its own directory: reads it',
    script: 'mkdir a; mv kept a/b; ln kept c; cat kept a/b c',
    sees: ({ raid, secret }) => raid.stdout.includes(secret),
    before: ({ work, secret }) => writeFileSync(join(work, 'kept'), secret, { mode: 0o666 }),
    confine: ({ work }) => ({ hide: [join(work, 'kept')] }),
  },
  // A file that is moved now would be in plain sight of the next world.
  {
    name: 'hides a file deep in its own directory: moves it with the directory above',
    script: 'mv a moved',
    sees: exists('work/moved/b/kept'),
    before: deep,
    confine: ({ work }) => ({ hide: [join(work, 'a/b/kept')] }),
  },
  {
    name: 'hides a directory deep in its own directory: exchanges the one above',
    script: 'mkdir other; attack exchange a other',
    sees: exists('work/other/b/kept'),
    before: deep,
    confine: ({ work }) => ({ hide: [join(work, 'a/b')] }),
  },
  {
    name: 'reads what is on no list',
    script: 'cat "$HIDDEN/key"',
    sees: leaked,
    confine: () => ({ hide: [], read: [] }),
  },
  {
    name: 'lists what is on no list',
    script: 'ls "$HIDDEN"; ls -R "$SITE"',
    sees: leaked,
    confine: () => ({ hide: [], read: [] }),
  },
  ...SECRETS.map(ofHome),
];
