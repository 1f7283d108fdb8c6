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
  'fuse-overlayfs': () => onPath('fuse-overlayfs') || !existsSync('/dev/fuse'),
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

/** Those that only stress needs: login shells, servers, clients of containers and pods, programs that use secrets. */
const STRESS_PACKAGES = {
  apache2: () => existsSync('/usr/sbin/apache2'),
  aria2: () => onPath('aria2c'),
  'g++': () => onPath('c++'),
  'bash-static': () => onPath('bash-static'),
  'busybox-static': () => onPath('busybox'),
  containerd: () => onPath('containerd') && onPath('ctr'),
  crun: () => onPath('crun'),
  'default-jdk-headless': () => onPath('javac'),
  'etcd-server': () => onPath('etcd'),
  fish: () => onPath('fish'),
  gh: () => onPath('gh'),
  'golang-go': () => onPath('go'),
  httpie: () => onPath('http'),
  iproute2: () => onPath('ip') || existsSync('/usr/sbin/ip'),
  'kubernetes-client': () => onPath('kubectl'),
  'liblwp-protocol-https-perl': () => existsSync('/usr/share/perl5/LWP/Protocol/https.pm'),
  mksh: () => onPath('mksh'),
  munge: () => onPath('munge'),
  nginx: () => existsSync('/usr/sbin/nginx'),
  openssl: () => onPath('openssl'),
  'php-cli': () => onPath('php'),
  podman: () => onPath('podman'),
  'python3-aiohttp': () => hasModule('aiohttp'),
  'python3-grpcio': () => hasModule('grpc'),
  'python3-h2': () => hasModule('h2'),
  'python3-httpx': () => hasModule('httpx'),
  'python3-requests': () => hasModule('requests'),
  ruby: () => onPath('ruby'),
  runc: () => onPath('runc') || existsSync('/usr/sbin/runc'),
  skopeo: () => onPath('skopeo'),
  'slurm-client': () => onPath('srun'),
  slurmctld: () => existsSync('/usr/sbin/slurmctld'),
  slurmd: () => existsSync('/usr/sbin/slurmd'),
  tcsh: () => onPath('tcsh'),
  twine: () => onPath('twine'),
  wget: () => onPath('wget'),
  wget2: () => onPath('wget2'),
  zsh: () => onPath('zsh'),
};

/** Whether Debian's Python has a module. */
function hasModule(name) {
  return existsSync(join('/usr/lib/python3/dist-packages', name));
}

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
