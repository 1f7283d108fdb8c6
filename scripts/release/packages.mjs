/** Checks packed packages as registries, compilers and systems see them. */
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isOldEnough, newestOf } from '../glibc.mjs';
import { addon, hostList, hostMachines, hostProgram, manifest, platforms, supervisor } from '../platform.mjs';
import { Failed, run, tool } from '../process.mjs';

const options = { output: 'keep', limitMs: 5 * 60_000 };

/** Bytes to download: of the main package with one platform, and of the programs for targets. */
const [PAIR, HOST] = [7e6, 16e6];

/** What npm packs whatever "files" says, and we beside it. */
const ALWAYS = ['package.json', 'README.md', 'LICENSE', 'LICENSE.third-party.txt'];

/** The first bytes of binaries that name their processor: of ELF, and of Mach-O. */
const PROCESSORS = {
  'linux-x64': { at: 18, bytes: '3e00' },
  'linux-arm64': { at: 18, bytes: 'b700' },
  'darwin-x64': { at: 0, bytes: 'cffaedfe07000001' },
  'darwin-arm64': { at: 0, bytes: 'cffaedfe0c000001' },
};

/** The SHA-256 of a file, in hexadecimal digits. */
export const digestOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Fails unless a binary is for a platform. */
function isFor(platform, file) {
  const { at, bytes } = PROCESSORS[platform.split('-').slice(0, 2).join('-')];
  const head = Buffer.alloc(24);
  const fd = openSync(file, 'r');
  readSync(fd, head);
  closeSync(fd);
  const found = head.subarray(at, at + bytes.length / 2).toString('hex');
  if (found !== bytes) throw new Failed(`${basename(file)} is not for ${platform}: ${found} at ${at}`);
}

/** Fails if a binary needs a newer glibc than ours, or one at all where it shall need none. */
async function needsNoNewer(platform, file) {
  if (platform.startsWith('darwin')) return;
  const newest = newestOf((await run('readelf', ['--version-info', '--wide', file], options)).stdout);
  if (newest === null) return;
  if (!platform.endsWith('-gnu') || !isOldEnough(newest)) throw new Failed(`${basename(file)} needs glibc ${newest}`);
}

/** Fails unless the files of a package are those that its manifest lists, with their modes. */
export async function filesAreListed(tarball, declared) {
  const listed = declared.files.filter((path) => !path.startsWith('!'));
  const isListed = (path) =>
    ALWAYS.includes(path) ||
    listed.some((one) => path === one || path.startsWith(`${one.replace(/\/$/, '')}/`)) ||
    (declared.bundleDependencies ?? []).some((name) => path.startsWith(`node_modules/${name}/`));
  const { stdout } = await run('tar', ['tvzf', tarball], options);
  const entries = stdout
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('d'));
  const files = entries.map((line) => ({ mode: line.slice(0, 10), path: /package\/(.*)$/.exec(line)[1] }));
  const wrong = [
    ...files.filter(({ path }) => !isListed(path)).map(({ path }) => `${path} is not listed`),
    ...listed
      .filter((one) => !files.some(({ path }) => path === one || path.startsWith(`${one.replace(/\/$/, '')}/`)))
      .map((path) => `${path} is missing`),
    ...files
      .filter(({ path }) => /(^|\/)(\.|tsconfig)|\.map$|__test__/.test(path))
      .map(({ path }) => `${path} does not belong there`),
    ...files
      .filter(({ mode, path }) => path === supervisor && mode !== '-rwxr-xr-x')
      .map(({ mode }) => `${supervisor} has the mode ${mode}`),
  ];
  if (wrong.length > 0) throw new Failed(`${basename(tarball)}: ${wrong.join(', ')}`);
}

/** Fails unless a list of programs and the programs agree. */
function programsAreListed(folder, host) {
  const list = JSON.parse(readFileSync(join(folder, hostList), 'utf8'));
  const machines = list.map(({ machine }) => machine).sort();
  if (machines.join() !== Object.values(hostMachines).sort().join()) throw new Failed(`${hostList} has ${machines}`);
  for (const { file, sha256, bytes } of list.flatMap(({ forms }) => forms)) {
    const path = join(host, file);
    if (statSync(path).size !== bytes || digestOf(path) !== sha256)
      throw new Failed(`${file} is not the one of ${hostList}`);
  }
}

/**
 * The checks of all packages in a directory, by their names. Packages are unpacked into `place`. Those of a `quick`
 * build may have any size.
 */
export function ofPackages(tarballs, place, { quick }) {
  const { name, version } = manifest();
  const tarballOf = (one) => join(tarballs, `${one}-${version}.tgz`);
  const bytesOf = (one) => statSync(tarballOf(one)).size;
  const names = [...platforms().map((platform) => `${name}-${platform}`), hostProgram, name];
  const unpacked = (one) => join(place, one, 'package');
  const each = (one) => async () => {
    rmSync(join(place, one), { recursive: true, force: true });
    mkdirSync(join(place, one), { recursive: true });
    await run('tar', ['xzf', tarballOf(one), '-C', join(place, one)], options);
    const declared = JSON.parse(readFileSync(join(unpacked(one), 'package.json'), 'utf8'));
    if (declared.name !== one || declared.version !== version)
      throw new Failed(`${one} is ${declared.name} ${declared.version}`);
    if (declared.scripts) throw new Failed(`${one} has scripts, which npm would run`);
    await filesAreListed(tarballOf(one), declared);
    await run(tool('publint'), ['run', tarballOf(one), '--strict'], options);
  };
  return {
    'there is a package for each platform, one for targets and the main one, and nothing else'() {
      const [found, expected] = [readdirSync(tarballs).sort(), names.map((one) => basename(tarballOf(one))).sort()];
      if (found.join() !== expected.join()) throw new Failed(`packed are ${found.join(', ')}`);
    },
    ...Object.fromEntries(
      names.map((one) => [`${one} has the files that it lists, and publint finds nothing`, each(one)]),
    ),
    async 'each binary is for its platform, and needs no newer C library'() {
      for (const platform of platforms()) {
        for (const file of [addon(platform), supervisor]) {
          const path = join(unpacked(`${name}-${platform}`), file);
          isFor(platform, path);
          await needsNoNewer(platform, path);
        }
      }
    },
    'the main package asks for the platforms in its own version'() {
      const { optionalDependencies } = JSON.parse(readFileSync(join(unpacked(name), 'package.json'), 'utf8'));
      const expected = platforms().map((platform) => `${name}-${platform}@${version}`);
      const found = Object.entries(optionalDependencies).map((pair) => pair.join('@'));
      if (found.join() !== expected.join()) throw new Failed(`it asks for ${found.join(', ')}`);
    },
    'the main package has the checksums of the programs for targets'() {
      programsAreListed(unpacked(name), unpacked(hostProgram));
    },
    async 'its types resolve for each kind of import'() {
      const plain = ['--no-definitely-typed', '--no-emoji', '--format', 'ascii'];
      await run(tool('attw'), [tarballOf(name), ...plain], options);
    },
    'they are small to download'() {
      if (quick) return;
      const largest = Math.max(...platforms().map((platform) => bytesOf(`${name}-${platform}`)));
      if (bytesOf(name) + largest > PAIR) throw new Failed(`${bytesOf(name) + largest} bytes: ${PAIR} are allowed`);
      if (bytesOf(hostProgram) > HOST)
        throw new Failed(`${bytesOf(hostProgram)} bytes of ${hostProgram}: ${HOST} are allowed`);
    },
  };
}
