/** Machines that have the system of a guest as their root, and the kernel of this machine. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from '../process.mjs';
import { need } from './debian.mjs';
import { layJob } from './guest.mjs';
import { rowIn } from './parts.mjs';
import { systemOf } from './system.mjs';

/** Mounts the system in namespaces of its own, and runs the job. */
const ENTER = `set -eu
mount --make-rprivate /
mount -t tmpfs -o size=2G,mode=755 layers "$2"
mkdir -p "$2/upper" "$2/work" "$2/root"
mount -t overlay -o "lowerdir=$1:$0,upperdir=$2/upper,workdir=$2/work" overlay "$2/root"
cd "$2/root"
mount --rbind /dev dev; mount --rbind /sys sys; mount -t proc proc proc
mount -t tmpfs -o mode=1777 tmp tmp; mount -t tmpfs -o mode=755 run run
# A kernel lays no overlay over the caches of a home that lies on one.
mount -t tmpfs -o mode=700 root root
ip link set lo up
ip link add own type veth peer name other && ip link set other up && ip addr add 198.51.100.2/24 dev own && ip link set own up || :
# git looks the machine's name up, which would be denied if etc/hosts did not have it.
hostname -F etc/hostname
mkdir -p before; pivot_root . before; umount -l before
export PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin
cd /work && exec env -i PATH="$PATH" HOME=/root LANG=C.UTF-8 TERM=dumb bash /job
`;

/** Runs a job there, with `lay`, `job` and `onLine` of `boot`, and resolves to the rows that it printed. */
export async function enter(name, { limitMs, onLine = () => {}, ...machine }) {
  await need({ setpriv: 'util-linux', unshare: 'util-linux' });
  const place = join(root, 'target', 'machines', name);
  rmSync(place, { recursive: true, force: true });
  for (const directory of ['job', 'layers']) mkdirSync(join(place, directory), { recursive: true });
  const tree = join(await systemOf(machine), 'tree');
  await layJob(join(place, 'job'), machine);
  const isolated = '--mount --pid --fork --kill-child --ipc --uts --net --propagation private'.split(' ');
  const words = ['bash', '-c', ENTER, tree, join(place, 'job'), join(place, 'layers')];
  const { stdout } = await run('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...isolated, ...words], {
    output: 'keep',
    onLine,
    limitMs,
    allowFailure: true,
  });
  rmSync(place, { recursive: true, force: true });
  return stdout.split('\n').map(rowIn).filter(Boolean);
}
