import { type Attack, changed } from '../../../../confine/support/attack.ts';

/** Makes an attack on the root of a draft, `$WORK`, or on its parts below `$SITE/drafts`. */
const attack = (name: string, script: string): Attack => ({ name, script, sees: changed('work') });

/** The program that makes calls which no shell makes. */
const python = (code: string) => `python3 - <<'END'\nimport ctypes, os, stat\nwork = os.environ['WORK']\n${code}\nEND`;

/** Ways to write to the root itself from inside of its draft. */
export const drafted: Attack[] = [
  attack(
    'writes by the root of other processes',
    'for p in 1 2 3 $PPID self; do echo x >/proc/$p/root$WORK/notes; done',
  ),
  attack('writes by the directories of other processes', 'for p in 1 2 3 $PPID; do echo x >/proc/$p/cwd/notes; done'),
  attack(
    'writes by inherited descriptors',
    'for f in /proc/self/fd/* /proc/$PPID/fd/*; do echo x >$f/notes; echo x >$f/work/notes; done',
  ),
  attack(
    'binds the root elsewhere',
    'mkdir m; mount --bind "$WORK" m; echo x >m/notes; umount "$WORK"; echo x >"$WORK/notes"',
  ),
  attack('takes the overlay away', 'umount -l "$WORK"; umount -l .; cd /; echo x >"$WORK/notes"'),
  attack(
    'mounts an overlay of its own',
    'mkdir -p u w; mount -t overlay -o "lowerdir=/,upperdir=$WORK,workdir=$SITE/w" o m',
  ),
  attack('mounts the overlay for writing to the root', 'mount -o "remount,upperdir=$WORK" "$WORK"; echo x >notes'),
  attack(
    'links files of the root into the draft',
    'ln notes other; echo x >>other; ln notes /tmp/other && echo x >>/tmp/other; mv notes moved; echo x >>moved',
  ),
  attack(
    'makes a file without a name',
    python(`
fd = os.open(work, os.O_TMPFILE | os.O_RDWR)
os.write(fd, b'x')
os.link('/proc/self/fd/%d' % fd, work + '/notes.new')
os.rename(work + '/notes.new', work + '/notes')`),
  ),
  attack(
    'opens files by handles',
    python(`
libc = ctypes.CDLL(None, use_errno=True)
handle = (ctypes.c_ubyte * 136)(128)
mount = ctypes.c_int()
if libc.name_to_handle_at(-100, (work + '/notes').encode(), handle, ctypes.byref(mount), 0) == 0:
    at = os.open(work, os.O_RDONLY)
    fd = libc.open_by_handle_at(at, handle, os.O_WRONLY)
    if fd >= 0: os.write(fd, b'x')`),
  ),
  attack(
    'forges the marks of the overlay',
    python(`
os.makedirs(work + '/d/e', exist_ok=True)
for name, value in [('opaque', b'y'), ('redirect', b'/../../work'), ('metacopy', b''), ('origin', b'\\x00' * 30), ('whiteout', b'y')]:
    for prefix in ['user.overlay.', 'trusted.overlay.', 'user.overlay.overlay.']:
        for path in [work, work + '/d', work + '/notes']:
            try: os.setxattr(path, prefix + name, value)
            except OSError: pass
open(work + '/d/f', 'w').write('x')
open(work + '/notes', 'w').write('x')`),
  ),
  attack(
    'makes whiteouts of its own',
    python(`
for name in ['notes', 'none', '.wh.notes']:
    try: os.mknod(work + '/' + name, stat.S_IFCHR | 0o600, os.makedev(0, 0))
    except OSError: pass
try: os.remove(work + '/notes'); os.mknod(work + '/notes', stat.S_IFCHR, os.makedev(0, 0))
except OSError: pass`),
  ),
  attack(
    'looks for the parts of the draft',
    'find / -xdev -path "*/drafts/*" -name notes -exec sh -c "echo x >{}" \\; 2>/dev/null; echo x >notes; for u in "$SITE"/drafts/*/0/upper "$SITE"/drafts/*/0/work/work; do ln -s "$WORK/notes" $u/link; echo x >$u/link; done',
  ),
  attack(
    'leads the parts of the draft elsewhere',
    'rm -rf "$SITE/drafts"; mv "$SITE/drafts" "$SITE/d2"; ln -s "$WORK" "$SITE/drafts"; echo x >notes',
  ),
  attack(
    'exchanges names with the root',
    python(`
libc = ctypes.CDLL(None, use_errno=True)
open(work + '/mine', 'w').write('x')
for to in ['/proc/1/root' + work + '/notes', '/proc/self/cwd/notes', work + '/notes']:
    libc.renameat2(-100, (work + '/mine').encode(), -100, to.encode(), 2)`),
  ),
  attack(
    'writes to a mapping of a file of the root',
    python(`
import mmap
fd = os.open(work + '/notes', os.O_RDONLY)
try:
    seen = mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ)
    libc = ctypes.CDLL(None, use_errno=True)
    address = ctypes.addressof(ctypes.c_char.from_buffer_copy(seen))
except (OSError, ValueError): pass
try: os.open('/proc/self/fd/%d' % fd, os.O_RDWR | os.O_TRUNC)
except OSError: pass`),
  ),
  attack(
    'changes the root as a directory',
    `chmod 777 . ; touch -d @0 .; setfattr -n user.x -v 1 .; mv "$WORK" "$WORK.2"; rmdir "$WORK"
      ${python(`import shutil
for name in os.listdir(work):
    if os.path.isdir(work + '/' + name): shutil.rmtree(work + '/' + name, True)
    else: os.remove(work + '/' + name)`)}`,
  ),
];
