import { type Attack, leaked, said } from '../../../../confine/support/attack.ts';

/**
 * Without confinement these run in a mount namespace of their own (`OWN`), so that they cannot harm the machine. With
 * it `OWN` is empty, and they run as they are.
 */
const mounts = (name: string, commands: string, more: Partial<Attack> = {}): Attack => ({
  name,
  script: `$OWN bash -c '${commands}'`,
  ...more,
});

const flags = {
  user: 0x10000000,
  mount: 0x20000,
  network: 0x40000000,
  pid: 0x20000000,
  cgroup: 0x2000000,
  ipc: 0x8000000,
  uts: 0x4000000,
};

/** Mounts, namespaces and changes of the root directory. */
export const mountsAndNamespaces: Attack[] = [
  mounts('mounts the root for writing', 'mount -o remount,bind,rw / && echo x >"$OUT/canary"'),
  mounts(
    'mounts what is outside for writing',
    'mount --bind "$OUT" "$OUT" && mount -o remount,bind,rw "$OUT" && echo x >"$OUT/canary"',
  ),
  mounts('binds the outside into its directory', 'mkdir m; mount --bind "$OUT" m && echo x >m/canary'),
  mounts(
    'moves a mount',
    'mkdir m n; mount --bind "$OUT" m && mount --make-private m; mount --move m n; echo x >n/canary',
  ),
  mounts('mounts /proc anew', 'mkdir m; mount --rbind /proc m && echo x >"m/self/root$OUT/canary"'),
  mounts('mounts /tmp away', 'umount -l /tmp /dev/shm 2>/dev/null; mount -t tmpfs none /mnt && echo PWNED', {
    sees: said,
  }),
  mounts(
    'changes the root',
    'mkdir m && mount --rbind / m && mkdir -p m/tmp && cd m && chroot . bash -c "echo x >\\"\\$OUT/canary\\""',
  ),
  {
    name: 'makes namespaces and mounts the root for writing',
    script: `unshare -Urm bash -c 'mount -o remount,bind,rw / && echo x >"$OUT/canary"'`,
  },
  { name: 'makes namespaces of pids', script: `unshare -Urpfm --mount-proc bash -c 'echo x >"$OUT/canary"'` },
  { name: 'makes namespaces without privileges to map', script: `unshare -U bash -c 'echo PWNED'`, sees: said },
  {
    name: 'joins the namespaces of a process of the host',
    script: `for p in 1 $VICTIM; do nsenter -t $p -m -- bash -c 'echo x >"$OUT/canary"'; done`,
    as: 'root',
    victim: true,
  },
  {
    name: 'joins the namespaces of its parent',
    script: `nsenter -t $PPID -m -n -- bash -c 'echo x >"$OUT/canary"'`,
    as: 'root',
  },
  {
    name: 'joins the user namespace of its parent',
    script: `unshare -Ur bash -c 'nsenter -t $$ -U -- echo PWNED' || nsenter -t $PPID -U -- echo PWNED; unshare -Ur echo PWNED`,
    sees: said,
  },
  { name: 'opens namespaces of its own by descriptor', as: 'root', script: 'attack call setns', sees: said },
  ...Object.entries(flags).flatMap(([name, flag]): Attack[] => {
    const all = name === 'user' ? flag : flag | flags.user;
    return [
      { name: `clones a namespace: ${name}`, script: `attack namespace ${all}`, sees: said },
      { name: `clones a namespace by clone3: ${name}`, script: `attack namespace ${all} 3`, sees: said },
    ];
  }),
  {
    name: 'clones a namespace without a user namespace',
    as: 'root',
    script: `attack namespace ${flags.mount}`,
    sees: said,
  },
  { name: 'leaves its user namespace', script: 'attack call unshare-user', sees: said },
  { name: 'leaves its mounts', as: 'root', script: 'attack call unshare-files-and-mounts', sees: said },
  ...['mount', 'umount', 'fsopen', 'open_tree', 'mount_setattr', 'move_mount', 'pivot_root'].map(
    (call): Attack => ({ name: `calls ${call}`, as: 'root', script: `attack call ${call}`, sees: said }),
  ),
  {
    name: 'reads a hidden file in namespaces of its own',
    script: `unshare -Urpfm --mount-proc bash -c 'umount -R "$HIDDEN" 2>/dev/null; cat "$HIDDEN/key"'`,
    sees: leaked,
  },
];
