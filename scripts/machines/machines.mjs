/** The machines on which the promises of docs/platforms.md are tried, each with what it runs. */
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addon, hostProgram, supervisor } from '../platform.mjs';
import { Failed, run } from '../process.mjs';
import { NONE, vitest } from '../runners.mjs';
import { setUp } from '../setup.mjs';
import { enter } from './chroot.mjs';
import { boot } from './guest.mjs';
import { PARTS, rowOf } from './parts.mjs';
import { build, cross } from './zig.mjs';

const minutes = 60_000;

const options = { output: 'keep', limitMs: 20 * minutes };

const ALL = Object.keys(PARTS).map((part) => ({ part }));

/** What a step's row is called. */
const nameOf = ({ part, name = part }) => name;

/** Steps as a script of a machine. */
const job = (steps) => `node scripts/machines/parts.mjs '${JSON.stringify(steps)}'\n`;

/** Lays out the project as it is here, with its TypeScript layer, and binaries for a platform of Linux. */
async function project(platform) {
  const binaries = await build(platform, options);
  await setUp();
  return async (tree) => {
    const work = join(tree, 'work');
    const { stdout } = await run('git', ['ls-files', '-co', '--exclude-standard'], options);
    const list = `${tree}.list`;
    writeFileSync(list, `${stdout}dist\nnative.d.cts\n`);
    await run('bash', ['-c', 'tar c --ignore-failed-read -T "$0" | tar x -C "$1"', list, work], options);
    rmSync(list);
    for (const name of [addon(platform), supervisor, hostProgram]) copyFileSync(join(binaries, name), join(work, name));
  };
}

/**
 * A machine of its own, which `start` starts with a job, and on which `steps` are run. A part with a slash in its name
 * is a path below `__test__`, which runs as the first step does.
 */
const machine = (about, platform, steps, start, jobOf = job) => ({
  about,
  platform,
  start,
  parts: steps.map(nameOf),
  takesPaths: jobOf === job,
  async run(name, { parts, onLine }) {
    const paths = parts.filter((part) => part.includes('/'));
    const named = steps.filter((step) => parts.includes(nameOf(step)));
    const asked = [...named, ...paths.map((path) => ({ ...steps[0], part: path, name: path, files: [path] }))];
    return start(name, { lay: await project(platform), job: jobOf(asked), onLine });
  },
});

/** A machine in qemu. */
const guest = (about, { kind, libc = 'gnu', suite, debian, steps, jobOf }) =>
  machine(
    about,
    `linux-${kind}-${libc}`,
    steps,
    (name, what) => boot(name, { kind, libc, suite, debian, ...what }),
    jobOf,
  );

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
  nfs: 'mkdir -p /export && mount -t tmpfs export /export && modprobe nfsd && mount -t nfsd nfsd /proc/fs/nfsd && mkdir -p /run/rpc_pipefs /var/lib/nfs/v4recovery && touch /etc/exports /var/lib/nfs/etab /var/lib/nfs/rmtab && exportfs -o rw,no_root_squash,insecure,fsid=0 127.0.0.1:/export && for time in lease grace; do echo 10 >/proc/fs/nfsd/nfsv4${time}time; done && rpc.mountd -N 3 && rpc.nfsd -N 3 -V 4.2 2 && mount -t nfs4 -o vers=4.2 127.0.0.1:/ "$D"',
  // On a disk of its own, as drafts need it.
  fuse: 'mkdir -p /layers && mount -t tmpfs layers /layers && mkdir /layers/l /layers/u /layers/w && fuse-overlayfs -o lowerdir=/layers/l,upperdir=/layers/u,workdir=/layers/w "$D"',
};

/** File systems that cannot be the upper one of an overlay, so that the changes of drafts are kept elsewhere. */
const LOWER = ['overlayfs', 'nfs', 'fuse'];

/** The tests of receipts, undo and drafts with their projects on file systems, as a script of a guest. */
const filesJob = (steps) =>
  steps
    .map(({ part: name }) => {
      const make = FILES[name];
      const env = { TMPDIR: `/mnt/${name}`, ...(LOWER.includes(name) && { AGENT_BASH_TEST_STATE: '/var/tmp' }) };
      const step = { part: name, files: ['receipt', 'undo', 'draft'], env };
      const failed = JSON.stringify({ part: name, ...NONE, failures: undefined, skipped: 1, seconds: 0 });
      return `D=/mnt/${name} F=/images/${name}; mkdir -p "$D" /images; truncate -s 1G "$F"
if { ${make}; } 2>/tmp/why; then chmod 1777 "$D"; ${job([step])} else
  echo 'ROW ${failed.slice(0, -1)},"why":["not mounted: '"$(tr -d '"\\\\' </tmp/why | tr '\\n' ' ' | cut -c1-150)"'"]}'
fi
`;
    })
    .join('');

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

/** Compiles, lints or links for macOS: `part` is one of `MAC`. */
async function macos(part) {
  const [act, arch] = part.split(' ');
  const platform = `darwin-${arch}`;
  if (act === 'link') return whole(part, () => build(platform, options));
  const { name, env } = await cross(platform);
  const more = act === 'clippy' ? ['--', '-D', 'warnings'] : [];
  const words = [act, '--target', name, '-p', 'agent-bash', '-p', 'agent-bash-supervisor', ...more];
  return whole(part, () => run('cargo-zigbuild', words, { ...options, env }));
}

const MAC = ['x64', 'arm64'].flatMap((arch) => ['check', 'clippy', 'link'].map((act) => `${act} ${arch}`));

/** Runs the packed package in an empty project with a JavaScript runtime: `part` is one of `RUNTIMES`. */
async function runtime(part) {
  await setUp({ full: true });
  const start = performance.now();
  // vitest quotes the name.
  const words = ['--project=stress', '__test__/stress/package/runtimes', '-t', `in an empty project, .?${part}`];
  const counts = await vitest(words, { limitMs: 20 * minutes });
  // Tests of other runtimes, which vitest leaves out by their names, count as skipped as well.
  const skips = counts.skips.filter((name) => name.includes(part));
  const row = rowOf(part, { ...counts, skips, skipped: skips.length }, (performance.now() - start) / 1000);
  return row.passed + row.failed > 0 ? row : { ...row, failed: 1, why: ['no test ran'] };
}

const RUNTIMES = ['Node 20', 'Node 22', 'Node 24', 'Node 26', 'Bun 1', 'Deno 2'];

/** What runs on this machine, part by part. */
const here = (about, parts, rowOfPart) => ({
  about,
  parts,
  async run(_, { parts }) {
    const rows = [];
    for (const part of parts) rows.push(await rowOfPart(part));
    return rows;
  },
});

/** The machines by their names, each with its parts. `run` takes those that are asked for, and resolves to rows. */
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
  'x64-old': guest('x64, Linux 5.10, with the glibc 2.31, bash 5.1 and git of its time', {
    kind: 'x64',
    suite: 'bullseye',
    debian: 'bullseye',
    steps: ALL,
  }),
  'musl-x64': machine('x64, musl, the kernel of this machine', 'linux-x64-musl', ALL, (name, what) =>
    enter(name, { kind: 'x64', libc: 'musl', limitMs: 40 * minutes, ...what }),
  ),
  'musl-arm64': guest('arm64, musl, Linux 6.12', { kind: 'arm64', libc: 'musl', suite: 'trixie', steps: ALL }),
  files: guest('file systems of projects and stores, on Linux 6.12', {
    kind: 'x64',
    suite: 'trixie',
    steps: Object.keys(FILES).map((part) => ({ part })),
    jobOf: filesJob,
  }),
  runtimes: here('Node 20, 22, 24 and 26, Bun and Deno', RUNTIMES, runtime),
  'macos-check': here('macOS, compiled, linted and linked', MAC, macos),
};
