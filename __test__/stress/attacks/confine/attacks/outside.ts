import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, constants, existsSync, openSync, readSync, rmSync } from 'node:fs';
import { type Attack, exists, hasMode, said } from '../../../../confine/support/attack.ts';
import type { Site } from '../../../../confine/support/site.ts';

const python = (code: string) => `python3 -c 'import os; out = os.environ["OUT"]; f = out + "/canary"; ${code}'`;

const notX86 = process.arch === 'x64' ? undefined : 'entry points of 32 bits';

const drop =
  (directory: string) =>
  ({ env }: Site) =>
    rmSync(`${directory}/${env.SHARED}`, { force: true });

/** The ends of pipes outside that this process reads, by the tokens of their sites. */
const ends = new Map<string, number>();

/** Writes the token to a FIFO of the host. No mount refuses that. */
const pipe = (name: string, script: string): Attack => ({
  name: `writes to a pipe of the host: ${name}`,
  script,
  before: ({ out, token }) => {
    spawnSync('mkfifo', [`${out}/pipe`]);
    chmodSync(`${out}/pipe`, 0o666);
    ends.set(token, openSync(`${out}/pipe`, constants.O_RDWR | constants.O_NONBLOCK));
  },
  sees: ({ token }) => {
    const data = Buffer.alloc(1024);
    try {
      return data.toString('latin1', 0, readSync(ends.get(token) ?? -1, data)).includes(token);
    } catch {
      return false; // there is nothing to read
    }
  },
  after: ({ token }) => closeSync(ends.get(token) ?? -1),
});

/** Writes the token to a file that Python opens with these flags. */
const opened = (path: string, flags: string) =>
  `python3 -c 'import os; p = os.environ["OUT"] + "/pipe"; d = os.open(p, os.O_PATH); os.write(os.open(${path}, ${flags}), os.environ["TOKEN"].encode())'`;

/** Changes of files outside the write roots. */
export const outside: Attack[] = [
  pipe('the shell', 'echo "$TOKEN" >"$OUT/pipe"'),
  pipe('appending', 'echo "$TOKEN" >>"$OUT/pipe"'),
  pipe('both ends', opened('p', 'os.O_RDWR')),
  pipe('both ends, as if it were new', opened('p', 'os.O_RDWR | os.O_CREAT')),
  pipe('without waiting', opened('p', 'os.O_WRONLY | os.O_NONBLOCK')),
  pipe('a descriptor', opened('f"/proc/self/fd/{d}"', 'os.O_WRONLY | os.O_CREAT')),
  pipe('a link', 'ln -s "$OUT/pipe" mine; echo "$TOKEN" >mine'),
  { name: 'writes', script: 'echo x >"$OUT/canary"' },
  { name: 'appends', script: 'echo x >>"$OUT/canary"' },
  { name: 'creates', script: 'echo x >"$OUT/fresh"' },
  { name: 'removes', script: 'rm -f "$OUT/canary"' },
  { name: 'removes the directory', script: 'rm -rf "${OUT:?}"' },
  { name: 'renames inside', script: 'mv "$OUT/canary" "$OUT/fresh"' },
  { name: 'moves out', script: 'echo x >mine; mv mine "$OUT/fresh"' },
  { name: 'moves in', script: 'mv "$OUT/canary" taken' },
  { name: 'moves the directory in', script: 'mv "$OUT" taken' },
  { name: 'moves the work directory away', script: 'cd /; mv "$WORK" "$OUT/fresh"' },
  {
    name: 'replaces the work directory by a link',
    script: 'cd /; mv "$WORK" "$WORK.old" && ln -s "$OUT" "$WORK" && echo x >"$WORK/fresh"',
  },
  { name: 'makes a directory', script: 'mkdir "$OUT/fresh"' },
  { name: 'makes a directory by the oldest call', script: 'attack mkdir "$OUT/fresh"' },
  { name: 'makes a node', script: 'attack mknod "$OUT/fresh"' },
  { name: 'makes a FIFO', script: 'mkfifo "$OUT/fresh"' },
  { name: 'makes a symbolic link', script: 'ln -s x "$OUT/fresh"' },
  { name: 'makes a hard link there', script: 'ln notes "$OUT/fresh"' },
  { name: 'writes through a hard link', script: 'ln "$OUT/canary" mine && echo x >mine' },
  { name: 'writes through a symbolic link', script: 'ln -s "$OUT/canary" mine; echo x >mine' },
  { name: 'writes through a linked directory', script: 'ln -s "$OUT" mine; echo x >mine/fresh' },
  { name: 'creates through a dangling link', script: 'ln -s "$OUT/fresh" mine; echo x >mine' },
  { name: 'walks up with ..', script: 'echo x >../out/canary' },
  { name: 'walks up from deep below', script: 'mkdir -p a/b/c; cd a/b/c; echo x >../../../../out/./canary' },
  { name: 'walks through /proc/self/root', script: 'echo x >"/proc/self/root$OUT/canary"' },
  { name: 'walks through /proc/self/cwd', script: 'echo x >/proc/self/cwd/../out/canary' },
  { name: 'walks through /proc/thread-self/root', script: 'echo x >"/proc/thread-self/root$OUT/canary"' },
  { name: 'walks through the parent of its process', script: 'echo x >"/proc/$PPID/root$OUT/canary"' },
  {
    name: 'walks through a process of the host',
    script: 'for p in 1 $VICTIM; do echo x >"/proc/$p/root$OUT/canary"; done',
    victim: true,
  },
  { name: 'walks through any process', script: 'attack other-roots "$OUT/canary" x' },
  { name: 'walks through an inherited descriptor', script: 'attack descriptors "$OUT/fresh" x' },
  { name: 'reopens a descriptor for writing', script: 'exec 9<"$OUT/canary"; echo x >/proc/self/fd/9' },
  { name: 'reopens an O_PATH descriptor', script: 'attack reopen "$OUT/canary" x' },
  { name: 'uses a descriptor of the directory', script: 'attack dirfd "$OUT" fresh x' },
  { name: 'uses openat2', script: 'attack openat2 "$OUT/fresh" x' },
  { name: 'uses creat', script: 'attack creat "$OUT/canary" x' },
  { name: 'links an unnamed file of its own', script: 'attack tmpfile "$OUT" fresh x' },
  { name: 'links an unnamed file from there', script: 'attack tmpfile-there "$OUT" fresh x' },
  { name: 'maps the file', script: 'attack mapping "$OUT/canary" x' },
  { name: 'opens by file handle', as: 'root', script: 'attack handle "$OUT/canary" x' },
  { name: 'exchanges', script: 'attack exchange notes "$OUT/canary"' },
  { name: 'renames without replacing', script: 'attack renameat2 notes "$OUT/fresh"' },
  { name: 'changes the root directory', as: 'root', script: 'mkdir -p jail; attack chroot jail "$OUT/fresh" x' },
  { name: 'uses a ring', script: 'attack ring-file "$OUT/fresh" x' },
  {
    name: 'uses the entry point of 32 bits',
    script: 'cd "$OUT"; attack int80-open fresh x',
    lacks: notX86,
  },
  { name: 'truncates', script: 'truncate -s 0 "$OUT/canary"' },
  { name: 'truncates in Python', script: python('os.truncate(f, 1)') },
  { name: 'allocates', script: 'fallocate -l 1M "$OUT/canary"' },
  { name: 'changes the mode', script: 'chmod 777 "$OUT/canary"' },
  { name: 'changes the mode of the directory', script: 'chmod 777 "$OUT"' },
  { name: 'changes the mode by descriptor', script: 'attack fchmod "$OUT/canary" 777' },
  { name: 'changes the mode by fchmodat2', script: 'attack fchmodat2 "$OUT/canary" 777' },
  { name: 'changes the mode through a link', script: 'ln -s "$OUT/canary" mine; chmod 777 mine' },
  { name: 'changes the owner', as: 'root', script: 'chown 1234 "$OUT/canary"' },
  { name: 'changes the owner of a link', as: 'root', script: 'chown -h 1234 "$OUT/canary"' },
  { name: 'changes the times', script: 'touch -d 2001-01-01 "$OUT/canary"' },
  { name: 'changes the times by descriptor', script: python('os.utime(os.open(f, os.O_RDONLY), (1, 1))') },
  { name: 'sets an attribute', script: python('os.setxattr(f, "user.attack", b"1"); print("PWNED")'), sees: said },
  { name: 'sets an attribute by descriptor', script: 'attack xattr "$OUT/canary" && echo PWNED', sees: said },
  { name: 'sets flags of an inode', script: 'attack inode-flags "$OUT/canary"', sees: said },
  { name: 'edits in place', script: 'sed -i s/original/x/ "$OUT/canary"' },
  { name: 'copies with dd', script: 'dd if=/dev/zero of="$OUT/canary" bs=1 count=3 conv=notrunc 2>/dev/null' },
  {
    name: 'unpacks an archive with absolute names',
    script: 'echo x >mine; tar -cPf a.tar --transform "s|.*|$OUT/fresh|" mine; tar -xPf a.tar',
  },
  { name: 'writes in Python', script: python('open(f, "w").write("x")') },
  { name: 'writes in Node', script: `node -e 'fs.writeFileSync(process.env.OUT + "/canary", "x")'` },
  {
    name: 'writes after the command',
    script: `(setsid bash -c 'until [ -e go ]; do :; done; echo x >"$OUT/canary"; touch done' &)
             touch go; until [ -e done ]; do :; done`,
  },
  { name: 'writes from an exit trap', script: `trap 'echo x >"$OUT/canary"' EXIT; exit 3` },
  { name: 'writes without its environment', script: 'env -i "$(command -v bash)" -c "echo x >$OUT/canary"' },
  {
    name: 'writes from a script with its own interpreter line',
    script: `printf '#!/bin/sh\\necho x >"$OUT/canary"\\n' >s; chmod +x s; ./s`,
  },
  { name: 'binds a socket', script: python('import socket; socket.socket(socket.AF_UNIX).bind(out + "/fresh")') },
  {
    name: 'writes into /dev/shm of the host',
    script: 'echo x >"/dev/shm/$SHARED"',
    sees: exists('/dev/shm/SHARED'),
    after: drop('/dev/shm'),
  },
  {
    name: 'writes into /tmp of the host',
    script: 'echo x >"/tmp/$SHARED"',
    sees: exists('/tmp/SHARED'),
    after: drop('/tmp'),
  },
  {
    name: 'writes into /var/tmp of the host',
    script: 'echo x >"/var/tmp/$SHARED"',
    sees: exists('/var/tmp/SHARED'),
    after: drop('/var/tmp'),
  },
  {
    name: 'opens the disk',
    as: 'root',
    script: 'for d in /dev/vd? /dev/sd? /dev/nvme?n? /dev/loop0; do head -c 1 $d >/dev/null && echo PWNED; done',
    sees: said,
  },
  { name: 'makes a device', as: 'root', script: 'mknod disk b 7 0 && (: <disk) && echo PWNED', sees: said },
  { name: 'makes a character device', as: 'root', script: 'mknod log c 1 11 && (: <log) && echo PWNED', sees: said },
  { name: 'opens the log of the kernel', as: 'root', script: 'exec 9>/dev/kmsg && echo PWNED', sees: said },
  {
    name: 'opens the trigger of the kernel',
    as: 'root',
    script: 'exec 9>/proc/sysrq-trigger && echo PWNED',
    sees: said,
    lacks: existsSync('/proc/sysrq-trigger') ? undefined : 'a kernel with SysRq',
  },
  {
    name: 'sets a variable of the kernel',
    as: 'root',
    script: 'f=/proc/sys/vm/swappiness; v=$(cat $f) && echo "$v" >$f && echo PWNED',
    sees: said,
  },
  // The same mode as before.
  { name: 'changes the mode of a device', as: 'root', script: 'chmod 666 /dev/null && echo PWNED', sees: said },
  {
    name: 'changes the mode of the device that is its input',
    as: 'root',
    script: `python3 -c 'import os; os.fchmod(0, 0o666); print("PWNED")'`,
    sees: said,
  },
  {
    name: 'opens a setting of the processor',
    as: 'root',
    script: 'exec 9>>/proc/mtrr && echo PWNED',
    sees: said,
    lacks: existsSync('/proc/mtrr') ? undefined : 'a kernel with memory type ranges',
  },
  {
    name: 'opens a setting of the machine',
    as: 'root',
    script: 'exec 9>>/sys/kernel/mm/transparent_hugepage/enabled && echo PWNED',
    sees: said,
  },
];

/** Files that run with more rights than their user. */
export const rights: Attack[] = [
  { name: 'lets a file run as its owner', script: 'cp /bin/true t; chmod u+s t', sees: hasMode('work/t', 0o4000) },
  { name: 'lets a file run as its group', script: 'cp /bin/true t; chmod 2755 t', sees: hasMode('work/t', 0o2000) },
  {
    name: 'installs a file that runs as its owner',
    script: 'install -m 4755 /bin/true t',
    sees: hasMode('work/t', 0o4000),
  },
  {
    name: 'creates a file that runs as its owner',
    script: `python3 -c 'import os; os.umask(0); os.open("t", os.O_CREAT | os.O_WRONLY, 0o4755)'`,
    sees: hasMode('work/t', 0o4000),
  },
  {
    name: 'makes a node that runs as its owner',
    script: `python3 -c 'import os; os.umask(0); os.mknod("t", 0o104755)'`,
    sees: hasMode('work/t', 0o4000),
  },
  {
    name: 'sets the bit by descriptor',
    script: 'cp /bin/true t; attack fchmod t 4755',
    sees: hasMode('work/t', 0o4000),
  },
  {
    name: 'sets the bit by fchmodat2',
    script: 'cp /bin/true t; attack fchmodat2 t 4755',
    sees: hasMode('work/t', 0o4000),
  },
  {
    name: 'gives a file a capability',
    as: 'root',
    script: 'cp /bin/true t; setcap cap_sys_admin+ep t && getcap t | grep -q admin && echo PWNED',
    sees: said,
  },
  { name: 'raises a capability', as: 'root', script: 'attack capability 21', sees: said },
  { name: 'starts a program of root', as: 'ordinary', script: '"$BASE/bin/risen" risen', sees: said },
  { name: 'starts a program with a capability', as: 'ordinary', script: '"$BASE/bin/capable" risen', sees: said },
];
