/** The programs that the tests of real work run, installed from Debian's packages where they are missing. */
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './process.mjs';

const onPath = (name) => (process.env.PATH ?? '').split(delimiter).some((path) => existsSync(join(path, name)));

/** Debian has the programs of its PostgreSQL servers outside of the PATH. */
const hasPostgres = () => {
  const above = '/usr/lib/postgresql';
  return existsSync(above) && readdirSync(above).some((version) => existsSync(join(above, version, 'bin', 'initdb')));
};

/** Debian packages, and whether this machine has what the tests need of each. */
const PACKAGES = {
  chromium: () => onPath('chromium') || onPath('google-chrome-stable') || onPath('chromium-browser'),
  curl: () => onPath('curl'),
  gcc: () => onPath('gcc') && onPath('ld'),
  'libc6-dev': () => !onPath('dpkg') || existsSync('/usr/include/stdio.h'),
  gdb: () => onPath('gdb'),
  'libcap2-bin': () => onPath('setcap') || existsSync('/usr/sbin/setcap'),
  make: () => onPath('make'),
  'openssh-client': () => onPath('ssh'),
  'openssh-server': () => existsSync('/usr/sbin/sshd'),
  postgresql: () => onPath('initdb') || hasPostgres(),
  procps: () => onPath('ps') && onPath('top'),
  python3: () => existsSync('/usr/bin/python3'),
  'python3-venv': () => ['/usr/lib', '/usr/local/lib'].some(hasVenv),
  sqlite3: () => onPath('sqlite3'),
  strace: () => onPath('strace'),
  valgrind: () => onPath('valgrind'),
  'xz-utils': () => onPath('xz'),
};

/** Those that only stress needs: login shells, servers, and clients of containers and pods with what they run. */
const STRESS_PACKAGES = {
  apache2: () => existsSync('/usr/sbin/apache2'),
  'g++': () => onPath('c++'),
  'bash-static': () => onPath('bash-static'),
  'busybox-static': () => onPath('busybox'),
  containerd: () => onPath('containerd') && onPath('ctr'),
  crun: () => onPath('crun'),
  'etcd-server': () => onPath('etcd'),
  fish: () => onPath('fish'),
  'golang-go': () => onPath('go'),
  iproute2: () => onPath('ip') || existsSync('/usr/sbin/ip'),
  'kubernetes-client': () => onPath('kubectl'),
  mksh: () => onPath('mksh'),
  munge: () => onPath('munge'),
  nginx: () => existsSync('/usr/sbin/nginx'),
  openssl: () => onPath('openssl'),
  podman: () => onPath('podman'),
  runc: () => onPath('runc') || existsSync('/usr/sbin/runc'),
  'slurm-client': () => onPath('srun'),
  slurmctld: () => existsSync('/usr/sbin/slurmctld'),
  slurmd: () => existsSync('/usr/sbin/slurmd'),
  tcsh: () => onPath('tcsh'),
  zsh: () => onPath('zsh'),
};

function hasVenv(lib) {
  return existsSync(lib) && readdirSync(lib).some((name) => existsSync(join(lib, name, 'venv')));
}

/**
 * Installs the missing programs, with `stress` also those that only stress needs. Without root or `apt-get` it only
 * reports them, and the tests that need them fail.
 */
export async function programs({ stress = false, ...options } = {}) {
  if (process.platform !== 'linux') return;
  const packages = { ...PACKAGES, ...(stress ? STRESS_PACKAGES : {}) };
  const missing = Object.entries(packages).flatMap(([name, isThere]) => (isThere() ? [] : [name]));
  if (missing.length === 0) return;
  if (process.getuid() !== 0 || !onPath('apt-get')) {
    console.log(`the tests need more: ${missing.join(', ')}`);
    return;
  }
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) => run('apt-get', args, { output: 'keep', env, ...options });
  await apt('update', '-qq');
  await apt('install', '-qq', '-y', '--no-install-recommends', ...missing);
  console.log(`installed ${missing.join(', ')}`);
}
