/**
 * Machines in qemu: a Debian system with a Debian kernel of choice, which runs steps of `parts.mjs` and powers off.
 * All are emulated, 10 to 30 times slower, because nested virtualization is not to be had everywhere.
 */
import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Failed, root, run } from '../process.mjs';
import { kernel, need } from './debian.mjs';
import { rowIn } from './parts.mjs';
import { DEBIAN, systemOf } from './system.mjs';

const options = { output: 'keep', limitMs: 10 * 60_000 };

/** Kinds of guests, and what qemu needs for each. */
const KINDS = {
  arm64: {
    qemu: ['qemu-system-aarch64', 'qemu-system-arm'],
    words: ['-machine', 'virt', '-cpu', 'max,pauth-impdef=on'],
    console: 'ttyAMA0',
  },
  x64: {
    qemu: ['qemu-system-x86_64', 'qemu-system-x86'],
    words: ['-machine', 'q35', '-cpu', 'max'],
    console: 'ttyS0',
  },
};

/** Bytes of a guest's disk, sparse, and of the file system in its partition, which begins after a MiB. */
const [DISK, SYSTEM] = ['5121M', '5G'];

/** Minutes before which a guest has to be up, and before which it has to be off. */
const [BOOT, LIFE] = [4, 150];

/** What the kernel finds the system by: disks are numbered in either order. */
const PARTITION = { disk: '0x62617368', root: 'PARTUUID=62617368-01' };

/** The disk with the system of a kind of machines: one partition. */
async function disk(machine) {
  const place = await systemOf(machine);
  const image = join(place, 'disk.img');
  if (existsSync(image)) return image;
  await need({ mke2fs: 'e2fsprogs', sfdisk: 'fdisk' });
  const table = `truncate -s "$1" "$0"; printf 'label: dos\\nlabel-id: ${PARTITION.disk}\\nstart=2048, type=83\\n' | sfdisk -q "$0"`;
  await run('bash', ['-euc', table, `${image}.new`, DISK], options);
  // Later features of ext4 are none for older kernels.
  const features = '^metadata_csum,^metadata_csum_seed,^orphan_file';
  const made = ['-q', '-F', '-t', 'ext4', '-O', features, '-d', join(place, 'tree')];
  await run('mke2fs', [...made, '-E', 'root_owner=0:0,offset=1048576', `${image}.new`, SYSTEM], options);
  renameSync(`${image}.new`, image);
  return image;
}

/** What that starts, from the second disk: mounts, the job, and the end. */
const START = `#!/bin/bash
export HOME=/root LANG=C.UTF-8 TERM=dumb AGENT_BASH_EMULATED=1
mount -t proc proc /proc; mount -t sysfs sys /sys; mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts; mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=755 run /run; chmod 1777 /tmp /var/tmp; mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t securityfs security /sys/kernel/security 2>/dev/null
ln -sfn /proc/self/fd /dev/fd; for n in 0:stdin 1:stdout 2:stderr; do ln -sfn /proc/self/fd/\${n%%:*} /dev/\${n#*:}; done
chmod 666 /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx
echo "BOOTED $(cut -d' ' -f1 /proc/uptime) s $(uname -srm)"
depmod; modprobe -a overlay veth tun loop fuse virtio_net 2>/dev/null; ip link set lo up
modprobe dummy && ip link add own type dummy && ip addr add 198.51.100.2/24 dev own && ip link set own up
ip link set eth0 up 2>/dev/null && ip addr add 10.0.2.15/24 dev eth0
# A pipe, because programs of tests draw on a terminal.
cd /work && setsid -w bash /job </dev/null 2>&1 | cat
echo "ENDED at $(cut -d' ' -f1 /proc/uptime) s"
sync; /bin/busybox poweroff -f
`;

/** Lays out the disk of a job: what `lay` puts into its directory, and the job itself. */
export async function layJob(tree, { lay, job }) {
  mkdirSync(join(tree, 'work'), { recursive: true });
  await lay(tree);
  writeFileSync(join(tree, 'job'), job);
}

/** Packs the second disk of a guest: what it runs, and the modules of its kernel. */
async function jobDisk(place, { kind, suite, ...what }) {
  const tree = join(place, 'tree');
  await layJob(tree, what);
  writeFileSync(join(tree, 'start'), START, { mode: 0o755 });
  const image = join(place, 'job.tar');
  await run('tar', ['c', '--owner=1000', '--group=1000', '-f', image, '-C', tree, '.'], options);
  const files = await kernel(suite, DEBIAN[kind]);
  const modules = ['usr/lib/modules', 'lib/modules'].find((path) => existsSync(join(files, path)));
  const moved = '--transform=s,^lib,usr/lib,';
  await run('tar', ['r', '--owner=0', '--group=0', moved, '-f', image, '-C', files, modules], options);
  rmSync(tree, { recursive: true });
  return image;
}

/** Where a guest reaches the shells of this machine. */
export const SHELLS = { host: '10.0.2.100', port: 7000 };

/** The words of qemu for a network with nothing on it but a port of the guest, and shells of this machine. */
const networkOf = ({ port, shell }) => {
  const forward = `hostfwd=tcp:127.0.0.1:${port}-:${port},guestfwd=tcp:${SHELLS.host}:${SHELLS.port}-cmd:${shell}`;
  return ['-device', 'virtio-net-pci,netdev=net,romfile=', '-netdev', `user,id=net,restrict=on,${forward}`];
};

/**
 * Boots a guest, runs a job in it, and resolves to the rows that it printed. The console is kept in
 * `target/machines/NAME.log`.
 *
 * - `suite`: the suite of Debian whose kernel it has
 * - `debian`: the suite of its system. Default: the newest one
 * - `lay`: puts files into the directory that it is given, as into the root of the guest
 * - `job`: a script of bash, which root runs in `/work`
 * - `network`: a `port` of the guest, which is one of 127.0.0.1, too, and a program `shell` of this machine, which is
 *   started for each connection of the guest to `SHELLS`. Default: no network
 * - `onLine`: receives each line of the console
 */
export async function boot(name, { kind, libc = 'gnu', suite, debian, network, onLine = () => {}, ...what }) {
  const { qemu, words, console: tty } = KINDS[kind];
  await need({ [qemu[0]]: qemu[1], setpriv: 'util-linux' });
  const place = join(root, 'target', 'machines', name);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  const [image, files] = [await disk({ kind, libc, debian }), await kernel(suite, DEBIAN[kind])];
  const second = await jobDisk(place, { kind, suite, ...what });
  const vmlinuz = join(
    files,
    'boot',
    readdirSync(join(files, 'boot')).find((file) => file.startsWith('vmlinuz')),
  );
  const append = `console=${tty} root=${PARTITION.root} rootfstype=ext4 rw init=/init panic=-1 quiet`;
  const drive = (id, file) => ['-drive', `if=none,id=${id},format=raw,file=${file},snapshot=on`];
  const args = [
    ...words,
    ...[
      '-accel',
      'tcg,thread=multi,tb-size=1024',
      '-smp',
      '2',
      '-m',
      '4096',
      '-nographic',
      '-nodefaults',
      '-no-reboot',
    ],
    ...['-serial', 'stdio', '-kernel', vmlinuz, '-append', append],
    ...(network ? networkOf(network) : []),
    ...[...drive('root', image), '-device', 'nvme,id=disk,serial=disk'],
    ...['-device', 'nvme-ns,drive=root,bus=disk,nsid=1'],
    ...[...drive('job', second), '-device', 'nvme-ns,drive=job,bus=disk,nsid=2', '-device', 'virtio-rng-pci'],
  ];
  const rows = await rowsOf(qemu[0], args, `${place}.log`, onLine);
  rmSync(place, { recursive: true, force: true });
  return rows;
}

/** Runs qemu to its end. A guest that does not come up, or does not end, is killed. */
function rowsOf(program, args, log, onLine) {
  return new Promise((resolve, reject) => {
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    const [rows, kept] = [[], createWriteStream(log)];
    let late = `was not up after ${BOOT} minutes`;
    const up = setTimeout(kill, BOOT * 60_000);
    const life = setTimeout(() => {
      late = `did not end within ${LIFE} minutes`;
      kill();
    }, LIFE * 60_000);
    let ended = false;
    child.stderr.pipe(kept, { end: false });
    createInterface({ input: child.stdout }).on('line', (line) => {
      kept.write(`${line}\n`);
      if (line.includes('BOOTED ')) clearTimeout(up);
      if (line.includes('ENDED at ')) ended = true;
      const row = rowIn(line);
      if (row) rows.push(row);
      onLine(line);
    });
    child.once('error', reject).once('close', (_, signal) => {
      process.off('exit', kill);
      clearTimeout(up);
      clearTimeout(life);
      kept.end();
      if (ended) return resolve(rows);
      const why = signal === 'SIGKILL' ? late : 'ended before its job did';
      reject(Object.assign(new Failed(`the guest ${why}: ${log} has its console`), { rows }));
    });
  });
}
