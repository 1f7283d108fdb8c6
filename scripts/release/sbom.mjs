/**
 * Lists the components of the packages in CycloneDX: npm's own `npm sbom` for the main package, and cargo-cyclonedx,
 * which is installed at its first use, for the binaries.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundled } from '../licences.mjs';
import { cache } from '../machines/zig.mjs';
import { hostMachines, hostProgram, manifest, platforms, targetOf } from '../platform.mjs';
import { npm, root, run } from '../process.mjs';

const VERSION = '0.5.9';
const options = { output: 'keep', limitMs: 15 * 60_000 };

/** The directory with cargo-cyclonedx. */
async function tool() {
  const place = join(cache, `cyclonedx-${VERSION}`);
  if (existsSync(join(place, 'bin', 'cargo-cyclonedx'))) return join(place, 'bin');
  await run(
    'cargo',
    ['install', 'cargo-cyclonedx', '--locked', '--version', VERSION, '--root', `${place}.new`],
    options,
  );
  renameSync(`${place}.new`, place);
  return join(place, 'bin');
}

/** Writes the components of a crate's binary for a platform into a file. */
async function ofCrate(bin, crate, platform, file) {
  const name = 'sbom.cdx';
  const words = ['cyclonedx', '--format', 'json', '--spec-version', '1.5', '--no-build-deps', '--quiet'];
  const where = ['--target', targetOf(platform), '--override-filename', name];
  await run(join(bin, 'cargo-cyclonedx'), [...words, ...where], options);
  // It writes one beside the manifest of each crate of the workspace.
  const { stdout } = await run('git', ['ls-files', '--others', '--', `*${name}.json`], options);
  const text = readFileSync(join(root, crate, `${name}.json`), 'utf8');
  writeFileSync(file, text.replaceAll(`path+file://${root}`, 'path+file://.'));
  for (const other of stdout.trim().split('\n')) rmSync(join(root, other), { force: true });
}

/** Writes the lists of all packages into a directory, as NAME.cdx.json. */
export async function writeSboms(out) {
  mkdirSync(out, { recursive: true });
  const { name } = manifest();
  const { stdout } = await run(npm, ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], options);
  const { components, dependencies, ...rest } = JSON.parse(stdout);
  const [own] = dependencies.filter(({ ref }) => ref === rest.metadata.component['bom-ref']);
  // npm lists all development dependencies. The package has only those that are bundled.
  const comesAlong = new Set(bundled().map(({ name, version }) => `${name}@${version}`));
  const kept = components.filter(({ name, version }) => comesAlong.has(`${name}@${version}`));
  const refs = kept.map((one) => one['bom-ref']);
  const graph = [{ ...own, dependsOn: refs }, ...refs.map((ref) => ({ ref, dependsOn: [] }))];
  rest.metadata.component.name = name;
  const main = { ...rest, components: kept, dependencies: graph };
  writeFileSync(join(out, `${name}.cdx.json`), `${JSON.stringify(main, null, 2)}\n`);
  const bin = await tool();
  for (const platform of platforms()) await ofCrate(bin, '.', platform, join(out, `${name}-${platform}.cdx.json`));
  for (const [arch, machine] of Object.entries(hostMachines)) {
    await ofCrate(bin, 'crates/remote', `linux-${arch}-musl`, join(out, `${hostProgram}.${machine}.cdx.json`));
  }
}
