/** The machines on which the promises of docs/platforms.md are tried, each with what it runs. */
import { Failed, run } from '../process.mjs';
import { NONE, vitest } from '../runners.mjs';
import { setUp } from '../setup.mjs';
import { enter } from './chroot.mjs';
import { need } from './debian.mjs';
import { boot } from './guest.mjs';
import { PARTS, rowOf } from './parts.mjs';
import { build, cross } from './zig.mjs';

const minutes = 60_000;

const ALL = Object.keys(PARTS).map((part) => ({ part }));

/** Steps as a script of a machine. */
const job = (steps) => `node scripts/machines/parts.mjs '${JSON.stringify(steps)}'\n`;

/** The steps whose rows are asked for, or all. */
const chosen = (steps, names) => steps.filter(({ part, name = part }) => names.length === 0 || names.includes(name));

/** A machine in qemu. */
const guest = (about, { kind, libc = 'gnu', suite, steps }) => ({
  about,
  async run(name, { parts, onLine }) {
    const platform = `linux-${kind}-${libc}`;
    const binaries = await build(platform, { output: 'keep' });
    await setUp();
    return boot(name, { kind, libc, suite, platform, binaries, job: job(chosen(steps, parts)), onLine });
  },
});

/** Steps as an ordinary user, with settings of the kernel. */
const asUser = (steps, sysctls) => steps.map((step) => ({ ...step, user: 'tester', sysctls }));

const YAMA = { 'kernel.yama.ptrace_scope': 1, 'kernel.unprivileged_userns_clone': 1 };
const WITHOUT_NAMESPACES = { ...YAMA, 'kernel.unprivileged_userns_clone': 0 };

/** File systems, each with the commands that make it a guest's directory /mnt/NAME. `$F` is an empty file of 1 GiB. */
const FILES = {
  ext4: 'mkfs.ext4 -q "$F" && mount -o loop "$F" "$D"',
  xfs: 'mkfs.xfs -q "$F" && mount -o loop "$F" "$D"',
  btrfs: 'mkfs.btrfs -q "$F" && mount -o loop "$F" "$D"',
  tmpfs: 'mount -t tmpfs tmpfs "$D"',
  overlayfs:
    'mkdir -p /layers && mount -t tmpfs layers /layers && mkdir /layers/l /layers/u /layers/w && mount -t overlay -o lowerdir=/layers/l,upperdir=/layers/u,workdir=/layers/w overlay "$D"',
  nfs: 'mkdir -p /export && mount -t tmpfs export /export && modprobe nfsd && mount -t nfsd nfsd /proc/fs/nfsd && mkdir -p /run/rpc_pipefs /var/lib/nfs/v4recovery && exportfs -o rw,no_root_squash,insecure,fsid=0 127.0.0.1:/export && rpc.nfsd -N 3 -V 4.2 2 && mount -t nfs4 -o vers=4.2 127.0.0.1:/ "$D"',
  fuse: 'mkdir -p /below /above /between && fuse-overlayfs -o lowerdir=/below,upperdir=/above,workdir=/between "$D"',
};

/** Receipts and undo with their projects on a file system. */
const onFiles = Object.entries(FILES).map(([name, make]) => ({ name, make }));

const filesJob = (names) =>
  onFiles
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .map(({ name, make }) => {
      const step = { part: name, files: ['receipt', 'undo'], env: { TMPDIR: `/mnt/${name}` } };
      const failed = JSON.stringify({ part: name, ...NONE, failures: undefined, skipped: 1, seconds: 0 });
      return `D=/mnt/${name} F=/images/${name}; mkdir -p "$D" /images; truncate -s 1G "$F"
if { ${make}; } 2>/tmp/why; then chmod 1777 "$D"; ${job([step])} else
  echo 'ROW ${failed.slice(0, -1)},"why":["not mounted: '"$(tr -d '"\\\\' </tmp/why | tr '\\n' ' ' | cut -c1-150)"'"]}'
fi
`;
    })
    .join('');

/** What is run on this machine: a function from the names of parts to rows. */
const here = (about, run) => ({ about, run: async (_, { parts }) => run(parts) });

/** Runs a step that passes or fails as a whole. */
async function whole(part, act) {
  const start = performance.now();
  const why = [];
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    why.push(error.message, ...(error.output.match(/^error.*$/gm) ?? []).slice(0, 10));
  }
  const counts = { ...NONE, passed: why.length ? 0 : 1, failed: why.length ? 1 : 0 };
  return rowOf(part, counts, (performance.now() - start) / 1000, why);
}

/** Compiles, lints and links for macOS. */
async function macos(parts) {
  const rows = [];
  for (const [arch, platform] of Object.entries({ x64: 'darwin-x64', arm64: 'darwin-arm64' })) {
    const { name, env } = await cross(platform);
    const words = ['--target', name, '-p', 'agent-bash', '-p', 'agent-bash-supervisor'];
    const options = { env, output: 'keep', limitMs: 20 * minutes };
    const acts = {
      [`check ${arch}`]: () => run('cargo-zigbuild', ['check', ...words], options),
      [`clippy ${arch}`]: () => run('cargo-zigbuild', ['clippy', ...words, '--', '-D', 'warnings'], options),
      [`link ${arch}`]: () => build(platform, { output: 'keep', limitMs: 20 * minutes }),
    };
    for (const part of Object.keys(acts).filter((part) => parts.length === 0 || parts.includes(part))) {
      rows.push(await whole(part, acts[part]));
    }
  }
  return rows;
}

/** Each JavaScript runtime with the packed package in an empty project. */
async function runtimes(parts) {
  await setUp({ full: true });
  const start = performance.now();
  const counts = await vitest(['--project=stress', '__test__/stress/package/runtimes'], { limitMs: 20 * minutes });
  return [rowOf('all', counts, (performance.now() - start) / 1000)].filter(
    ({ part }) => parts.length === 0 || parts.includes(part),
  );
}

/** The machines by their names. Each runs the parts that are asked for, or all, and resolves to their rows. */
export const MACHINES = {
  arm64: guest('arm64, glibc, Linux 6.12', { kind: 'arm64', suite: 'trixie', steps: ALL }),
  'x64-yama': guest('x64, Linux 6.1, as an ordinary user, with Yama and AppArmor', {
    kind: 'x64',
    suite: 'bookworm',
    steps: [
      ...asUser(ALL, YAMA),
      ...asUser([{ part: 'confine', name: 'confine without user namespaces' }], WITHOUT_NAMESPACES),
    ],
  }),
  'x64-old': guest('x64, Linux 5.10', { kind: 'x64', suite: 'bullseye', steps: ALL }),
  'musl-x64': {
    about: 'x64, musl, the kernel of this machine',
    async run(name, { parts }) {
      const platform = 'linux-x64-musl';
      await need({ unshare: 'util-linux' });
      const binaries = await build(platform, { output: 'keep' });
      await setUp();
      const machine = { kind: 'x64', libc: 'musl', platform, binaries, job: job(chosen(ALL, parts)) };
      return enter(name, { ...machine, limitMs: 40 * minutes });
    },
  },
  'musl-arm64': guest('arm64, musl, Linux 6.12', { kind: 'arm64', libc: 'musl', suite: 'trixie', steps: ALL }),
  files: {
    about: 'file systems of projects and stores, on Linux 6.1',
    async run(name, { parts, onLine }) {
      const platform = 'linux-x64-gnu';
      const binaries = await build(platform, { output: 'keep' });
      await setUp();
      return boot(name, { kind: 'x64', suite: 'bookworm', platform, binaries, job: filesJob(parts), onLine });
    },
  },
  runtimes: here('Node 20, 22, 24, 26, Bun and Deno', runtimes),
  'macos-check': here('macOS, compiled, linted and linked', macos),
};
