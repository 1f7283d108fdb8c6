/**
 * Machines in qemu: a Debian system with a Debian kernel of choice, which runs steps of `parts.mjs` and powers off.
 * All are emulated, 10 to 30 times slower, because nested virtualization is not to be had everywhere.
 */
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { addon, hostProgram, supervisor } from '../platform.mjs';
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

/** Bytes of a guest's disk: sparse. */
const DISK = '5G';

/** Minutes before which a guest has to be up, and before which it has to be off. */
const [BOOT, LIFE] = [4, 150];

/** The disk with the system of a kind of machines. */
async function disk(machine) {
  const place = await systemOf(machine);
  const image = join(place, 'root.img');
  if (existsSync(image)) return image;
  await need({ mke2fs: 'e2fsprogs' });
  // Later features of ext4 are none for older kernels.
  const features = '^metadata_csum,^metadata_csum_seed,^orphan_file';
  const made = ['-q', '-t', 'ext4', '-O', features, '-d', join(place, 'tree'), '-E', 'root_owner=0:0'];
  await run('mke2fs', [...made, `${image}.new`, DISK], options);
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
depmod; modprobe -a overlay veth tun loop fuse 2>/dev/null; ip link set lo up
cd /work && setsid -w bash /job </dev/null
echo "ENDED at $(cut -d' ' -f1 /proc/uptime) s"
sync; /bin/busybox poweroff -f
`;

/** Lays out what a machine runs in a directory: the project as it is here with its binaries, and the job. */
export async function layJob(tree, { platform, binaries, job }) {
  const work = join(tree, 'work');
  mkdirSync(work, { recursive: true });
  const { stdout } = await run('git', ['ls-files', '-co', '--exclude-standard'], options);
  const list = `${tree}.list`;
  writeFileSync(list, `${stdout}dist\nnative.d.cts\n`);
  await run('bash', ['-c', 'tar c --ignore-failed-read -T "$0" | tar x -C "$1"', list, work], options);
  rmSync(list);
  for (const name of [addon(platform), supervisor, hostProgram]) copyFileSync(join(binaries, name), join(work, name));
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

/**
 * Boots a guest, runs a job in it, a script of bash in \`/work\` as root, and resolves to the rows that it printed. The
 * console is kept in `target/machines/NAME.log`.
 */
export async function boot(name, { kind, libc = 'gnu', suite, onLine = () => {}, ...what }) {
  const { qemu, words, console: tty } = KINDS[kind];
  await need({ [qemu[0]]: qemu[1], setpriv: 'util-linux' });
  const place = join(root, 'target', 'machines', name);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  const [image, files] = [await disk({ kind, libc }), await kernel(suite, DEBIAN[kind])];
  const second = await jobDisk(place, { kind, suite, ...what });
  const vmlinuz = join(
    files,
    'boot',
    readdirSync(join(files, 'boot')).find((file) => file.startsWith('vmlinuz')),
  );
  const append = `console=${tty} root=/dev/nvme0n1 rootfstype=ext4 rw init=/init panic=-1 quiet`;
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
    // One controller with two namespaces: two controllers are numbered in either order.
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
