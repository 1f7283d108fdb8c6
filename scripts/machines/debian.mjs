/**
 * Debian's kernels and systems of any architecture, taken from its archive without running a line of them. Needs root,
 * apt, and mmdebstrap, which is installed.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failed, Missing, run } from '../process.mjs';
import { cache } from './zig.mjs';

const options = { output: 'keep', limitMs: 10 * 60_000 };

/** Debian's archive as this machine names it. */
function archive() {
  const directory = '/etc/apt/sources.list.d';
  const files = existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
  for (const file of [...files, '/etc/apt/sources.list'].filter(existsSync)) {
    const uri = /^(?:URIs:\s*|deb\s+(?:\[[^\]]*\]\s+)?)(https?:\/\/\S*\/debian)\/?\s/m.exec(readFileSync(file, 'utf8'));
    if (uri) return uri[1];
  }
  throw new Missing("no Debian archive is named in apt's sources");
}

/** Installs programs of this machine that are missing, by the package of each. */
export async function need(programs) {
  const found = (name) =>
    ['/usr/bin', '/usr/sbin', '/bin', '/sbin'].some((directory) => existsSync(join(directory, name)));
  const missing = Object.entries(programs).flatMap(([name, owner]) => (found(name) ? [] : [owner]));
  if (missing.length === 0) return;
  if (process.getuid() !== 0) throw new Missing(`missing, and only root can install them: ${missing.join(', ')}`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['-qq', 'update'], { ...options, env });
  await run('apt-get', ['-qq', '-y', '--no-install-recommends', 'install', ...missing], { ...options, env });
}

/** Makes a directory of the cache by `act`, once for a version. Removes other versions. Resolves to its path. */
export async function cached(name, version, act) {
  const place = join(cache, `${name}@${version}`);
  if (existsSync(place)) return place;
  mkdirSync(cache, { recursive: true });
  for (const other of readdirSync(cache).filter((entry) => entry.startsWith(`${name}@`))) {
    rmSync(join(cache, other), { recursive: true, force: true });
  }
  const made = `${place}.new`;
  mkdirSync(made);
  await act(made);
  renameSync(made, place);
  return place;
}

/** Takes the package that another one of a suite stands for from the archive, and unpacks it into a directory. */
async function unpack(place, suite, arch, name) {
  const state = `${place}.apt`;
  for (const path of ['lists/partial', 'archives/partial']) mkdirSync(join(state, path), { recursive: true });
  writeFileSync(join(state, 'status'), '');
  const keys = '/usr/share/keyrings/debian-archive-keyring.gpg';
  writeFileSync(join(state, 'sources'), `deb [arch=${arch} signed-by=${keys}] ${archive()} ${suite} main\n`);
  const settings = {
    'Dir::State': state,
    'Dir::State::lists': `${state}/lists`,
    'Dir::State::status': `${state}/status`,
    'Dir::Cache': state,
    'Dir::Etc::sourcelist': `${state}/sources`,
    'Dir::Etc::sourceparts': '-',
    'APT::Architecture': arch,
    'APT::Architectures': arch,
    'Acquire::Check-Valid-Until': 'false',
    'APT::Sandbox::User': 'root',
  };
  const text = Object.entries(settings).map(([name, value]) => `${name} "${value}";\n`);
  writeFileSync(join(state, 'conf'), text.join(''));
  const apt = { ...options, cwd: state, env: { APT_CONFIG: join(state, 'conf') } };
  await run('apt-get', ['-qq', 'update'], apt);
  const { stdout } = await run('apt-cache', ['depends', name], apt);
  const wanted = /Depends: (\S+-\d\S*)/.exec(stdout)?.[1];
  if (!wanted) throw new Failed(`${suite} has no ${name} for ${arch}`);
  await run('apt-get', ['-qq', 'download', wanted], apt);
  for (const file of readdirSync(state).filter((name) => name.endsWith('.deb'))) {
    await run('dpkg-deb', ['-x', join(state, file), place], options);
  }
  rmSync(state, { recursive: true });
}

/** Debian's cloud kernel of a suite. It has NVMe, ext4 and the console built in, so that no initramfs is needed. */
export const kernel = (suite, arch) =>
  cached(`kernel-${suite}-${arch}`, '1', (place) => unpack(place, suite, arch, `linux-image-cloud-${arch}`));

/** Makes a Debian system of a suite in a directory from packages whose scripts do not run. */
export async function system(place, suite, arch, packages) {
  await need({ mmdebstrap: 'mmdebstrap' });
  const late = '--aptopt=Acquire::Check-Valid-Until "false"';
  // Older suites have no package for /bin, which is a link in all of them.
  const words = ['--quiet', '--variant=extract', '--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr'];
  const what = [`--architectures=${arch}`, late, `--include=${packages.join(',')}`];
  await run('mmdebstrap', [...words, ...what, suite, place, archive()], options);
  // What the scripts of these packages would have done.
  await run('bash', ['-euc', AFTERWARDS, place], options);
}

const AFTERWARDS = `cd "$0"
cp usr/share/base-passwd/passwd.master etc/passwd
cp usr/share/base-passwd/group.master etc/group
echo 'tester:x:1000:1000::/home/tester:/bin/bash' >>etc/passwd
echo 'tester:x:1000:' >>etc/group
echo 'root:*:20000:0:99999:7:::' >etc/shadow
mkdir -p home/tester work etc/ssl/certs usr/local/bin
chown 1000:1000 home/tester work
echo guest >etc/hostname
printf '127.0.0.1 localhost guest\\n::1 localhost\\n' >etc/hosts
[ -e usr/bin/awk ] || ln -s mawk usr/bin/awk
[ -e usr/bin/sh ] || ln -s dash usr/bin/sh
[ -e etc/mtab ] || ln -s /proc/mounts etc/mtab
find usr/share/ca-certificates -name '*.crt' -exec cat {} + >etc/ssl/certs/ca-certificates.crt
rm -rf usr/share/doc usr/share/man usr/share/locale var/cache/apt/*
`;
