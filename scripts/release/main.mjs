/**
 * `npm run release`: a dry run of a release, from a work tree without changes. It builds all platforms, packs,
 * checks each package, lists its components, signs the checksums, installs the packages on each machine and uses
 * them there. All is below `target/release-run`: `tarballs/`, `programs/`, `sbom/`, `SHA256SUMS` with its signature,
 * `packed.txt` with the tarballs in the order of publishing, and `report.json` with a row for each part. It
 * publishes nothing.
 *
 * - `--artifacts DIR`: takes the binaries from `DIR/<platform>/` and builds nothing, as the workflow does
 * - `--machines NAME,…`: tries the packages on these machines. Default: all of `npm run machines`; `none`: on this
 *   one only
 * - `--key FILE`: signs with this ssh key. Default: one that is made for this run
 * - `--quick`: builds the profile that compiles fastest, for work on these scripts
 */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { program } from '../build.mjs';
import { exclusively } from '../lock.mjs';
import { MACHINES } from '../machines/machines.mjs';
import { table } from '../machines/parts.mjs';
import { build, cache } from '../machines/zig.mjs';
import { hostProgram, manifest, platforms } from '../platform.mjs';
import { Failed, main, root, run, since } from '../process.mjs';
import { setUp } from '../setup.mjs';
import { report } from './machine/checks.mjs';
import { tried } from './machines.mjs';
import { ofPackages } from './packages.mjs';
import { writeSboms } from './sbom.mjs';
import { sign, verify, writeSums } from './sign.mjs';
import { notesOf } from './tag.mjs';

const place = join(root, 'target', 'release-run');

const keep = { output: 'keep', limitMs: 60 * 60_000 };

/** Builds all platforms. Resolves to the directory with the binaries of each. */
async function built({ quick }) {
  const artifacts = join(place, 'artifacts');
  // Those that are built least often come first: what fails there fails soon.
  for (const platform of platforms().reverse()) {
    const start = performance.now();
    const place = join(artifacts, platform);
    cpSync(await build(platform, { full: !quick, ...keep }), place, { recursive: true });
    // Those with musl bring the program for targets along.
    const [, arch, libc] = platform.split('-');
    if (libc === 'musl') cpSync(await program({ arch, quick, ...keep }), join(place, hostProgram));
    console.log(`${platform} is built: ${since(start)}`);
  }
  return artifacts;
}

/** Copies the packed programs for targets out of their package: who puts one into an image takes it from there. */
function layPrograms() {
  const [from, to] = [join(place, 'unpacked', hostProgram, 'package'), join(place, 'programs')];
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to);
  for (const name of readdirSync(from).filter((name) => /\.(xz|gz)$/.test(name)))
    cpSync(join(from, name), join(to, name));
}

/** The machines that packages can be tried on. */
const tryable = Object.keys(MACHINES).filter((name) => MACHINES[name].start && name !== 'files');

/** The machines of `--machines`. */
function machinesOf(text = tryable.join()) {
  const names = text === 'none' ? [] : text.split(',');
  const unknown = names.find((name) => !tryable.includes(name));
  if (unknown !== undefined) throw new Failed(`${unknown} is none of these machines: ${tryable.join(', ')}, or none`);
  return names;
}

/** Runs all steps, and writes what came of them. */
async function release({ artifacts, machines, key, quick }) {
  const names = machinesOf(machines);
  const lacking = artifacts && platforms().filter((platform) => !existsSync(join(artifacts, platform)));
  if (lacking?.length > 0) throw new Failed(`${artifacts} has no binaries for ${lacking.join(', ')}`);
  const { stdout: changes } = await run('git', ['status', '--porcelain'], keep);
  if (changes && !quick) throw new Failed(`the work tree has changes, and a release is made of a commit:\n${changes}`);
  const { stdout: commit } = await run('git', ['rev-parse', 'HEAD'], keep);
  await setUp();
  if (artifacts !== resolve(place, 'artifacts')) rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  const binaries = artifacts ?? (await built({ quick }));
  const [tarballs, sboms] = [join(place, 'tarballs'), join(place, 'sbom')];
  for (const one of [tarballs, sboms, join(place, 'packed.txt')]) rmSync(one, { recursive: true, force: true });
  const packing = [join(root, 'scripts', 'pack.mjs'), tarballs, binaries];
  const steps = {
    'CHANGELOG.md has this version': () => writeFileSync(join(place, 'notes.md'), `${notesOf(manifest().version)}\n`),
    async 'the packages are packed'() {
      // In the order of publishing.
      const { stdout } = await run(process.execPath, packing, keep);
      writeFileSync(join(place, 'packed.txt'), stdout);
    },
    ...ofPackages(tarballs, join(place, 'unpacked'), { quick }),
    'their components are listed': () => writeSboms(sboms),
    async 'checksums are signed, and the signature holds'() {
      layPrograms();
      writeSums(place, ['tarballs', 'programs', 'sbom']);
      await sign(place, key);
      await verify(place);
    },
  };
  const rows = [{ machine: 'packages', ...(await report('checks', steps)) }];
  // Without packages there is nothing to try.
  if (existsSync(join(place, 'packed.txt'))) rows.push(...(await tried(tarballs, names)));
  writeFileSync(join(place, 'report.json'), `${JSON.stringify({ commit: commit.trim(), quick, rows }, null, 2)}\n`);
  console.log(`\n${table(rows)}`);
  if (rows.some(({ failed }) => failed > 0)) process.exitCode = 1;
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      artifacts: { type: 'string' },
      machines: { type: 'string' },
      key: { type: 'string' },
      quick: { type: 'boolean' },
    },
  });
  const { artifacts, key, ...rest } = values;
  const paths = { artifacts: artifacts && resolve(artifacts), key: key && resolve(key) };
  await exclusively(
    join(cache, 'turns'),
    () => release({ ...rest, ...paths }),
    (pid) => console.error(`waiting for the machines of process ${pid}`),
  );
});
