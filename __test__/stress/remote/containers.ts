import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hostProgram } from '../../../scripts/platform.mjs';
import { finished, folder, hasProgram, isRoot, packageRoot, testNeeding } from '../../support/index.ts';
import { runIn, world } from './world.ts';

/** A test with containers of its own. */
export const containerTest = testNeeding(
  'root, podman and more of scripts/machine.mjs, and the full build, whose program for targets is static',
  isRoot && isStatic() && ['podman', 'crun', 'busybox', 'bash-static', 'unshare', 'nsenter'].every(hasProgram),
  'linux',
);

/** Whether the program for targets needs no library: that of a quick build runs only where this machine's are. */
function isStatic(): boolean {
  const program = join(packageRoot, hostProgram);
  return existsSync(program) && !readFileSync(program).includes('/ld-linux');
}

/** A test with the client of Docker, which no package brings without a daemon: skipped where it is missing. */
export const dockerTest = hasProgram('docker') ? containerTest : containerTest.skip;

/** Where images have the host program of this build. */
export const INSTALLED = '/opt/agent-bash-host';

/** Podman with a store of its own. */
export interface Podman {
  /** The words that enter where it runs. */
  enter: string[];
  /** The words that start podman. */
  program: string[];
  /** The words that start docker with podman as its daemon. */
  docker: string[];
  /** Runs a container of an image. Returns its name, which no other one on this machine has. */
  run(image: Image, ...options: string[]): string;
  /** Runs podman with these words. Returns what it prints. */
  podman(...args: string[]): string;
}

export type Image = 'busybox' | 'coreutils' | 'installed';

/** What podman cannot do here: cgroups of both versions are mounted, and limits cannot be raised. */
const RUN = ['--network=none', '--cgroups=disabled', '--ulimit=nofile=1024:1024', '--ulimit=nproc=4096:4096'];

/** The first process of a container, which does not reap. */
const FIRST = ['sleep', '100000'];

/** Starts podman for one test, with these images. It ends with all containers. */
export async function podmanWith(...images: Image[]): Promise<Podman> {
  const place = folder();
  const { enter } = await world(
    [
      'if mountpoint -q /sys/fs/cgroup/unified; then umount -l /sys/fs/cgroup/unified; fi',
      `mkdir -p '${place}/store' /var/lib/containers; mount --bind '${place}/store' /var/lib/containers`,
    ].join('\n'),
  );
  const program = [...enter, 'podman', '--storage-driver=vfs', '--cgroup-manager=cgroupfs', '--events-backend=none'];
  const podman = (...args: string[]) => {
    const [first = '', ...rest] = program;
    return execFileSync(first, [...rest, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  };
  for (const image of images) {
    make[image](join(place, image));
    const user = image === 'installed' ? ['--change', 'USER=1000'] : [];
    execFileSync('tar', ['-C', join(place, image), '-cf', join(place, 'image.tar'), '.']);
    podman('import', ...user, join(place, 'image.tar'), image);
  }
  const run = (image: Image, ...options: string[]) => {
    const name = `box-${randomUUID()}`;
    podman('run', '--detach', '--name', name, '--hostname', 'box', ...RUN, ...options, image, ...FIRST);
    return name;
  };
  return { enter, program, docker: [...enter, 'docker', '--host=unix:///run/podman.sock'], run, podman };
}

/** Starts the service of podman that docker talks to. */
export async function serve({ enter, program }: Podman): Promise<void> {
  const [first = '', ...rest] = program;
  const service = spawn(first, [...rest, 'system', 'service', '--time=0', 'unix:///run/podman.sock'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const closed = once(service, 'close');
  finished(async () => {
    service.kill('SIGKILL');
    await closed;
  });
  runIn(enter, 'until [ -S /run/podman.sock ]; do sleep 0.02; done');
}

const make: Record<Image, (place: string) => void> = { busybox, coreutils, installed };

/** Makes a root with busybox and a static bash, and no library. */
function busybox(root: string): void {
  for (const name of ['bin', 'proc', 'dev', 'sys', 'etc', 'root']) mkdirSync(join(root, name), { recursive: true });
  for (const name of ['tmp', 'var/tmp']) {
    mkdirSync(join(root, name), { recursive: true });
    chmodSync(join(root, name), 0o1777);
  }
  copyFileSync('/usr/bin/bash-static', join(root, 'bin/bash'));
  copyFileSync('/usr/bin/busybox', join(root, 'bin/busybox'));
  const applets = execFileSync('busybox', ['--list'], { encoding: 'utf8' }).trim().split('\n');
  for (const applet of applets) if (applet !== 'busybox') symlinkSync('busybox', join(root, 'bin', applet));
}

/** Makes the same with the host program, and with nothing that it does not need. */
function installed(root: string): void {
  busybox(root);
  mkdirSync(join(root, dirname(INSTALLED)), { recursive: true });
  copyFileSync(join(packageRoot, hostProgram), join(root, INSTALLED));
  chmodSync(join(root, INSTALLED), 0o755);
}

const COREUTILS = ['cat', 'chmod', 'env', 'head', 'id', 'ls', 'mkdir', 'mv', 'printf', 'pwd', 'rm', 'seq', 'sha256sum'];
const PROGRAMS = [...COREUTILS, 'sleep', 'sort', 'touch', 'true', 'uname', 'wc', 'sh', 'bash', 'setsid', 'kill'];

/** Makes a root with sh, bash and coreutils of this machine, and their libraries. */
function coreutils(root: string): void {
  for (const name of ['proc', 'dev', 'sys', 'etc', 'root', 'bin', 'tmp', 'var/tmp']) {
    mkdirSync(join(root, name), { recursive: true });
  }
  for (const name of ['tmp', 'var/tmp']) chmodSync(join(root, name), 0o1777);
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/bash\ndev:x:1000:1000::/tmp:/bin/sh\n');
  for (const name of PROGRAMS) {
    const path = execFileSync('bash', ['-c', `type -P ${name}`], { encoding: 'utf8' }).trim();
    copyFileSync(path, join(root, 'bin', name));
    const libraries = execFileSync('ldd', [path], { encoding: 'utf8' });
    for (const [library] of libraries.matchAll(/\/\S+/g)) {
      mkdirSync(join(root, dirname(library)), { recursive: true });
      if (!existsSync(join(root, library))) copyFileSync(library, join(root, library));
    }
  }
}
