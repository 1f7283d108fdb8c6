/**
 * Builds, also if nothing changed: `npm run build`, `build:native` (addon and supervisor), `build:ts` (TypeScript layer
 * and index.d.ts), `node scripts/build.mjs program` (the static program for other machines).
 *
 * The addon and the supervisor have two builds. The full one is optimized as in a release and takes minutes. The quick
 * one (`--quick`, and the set-up of `npm start` and `npm test`) is cargo's dev profile.
 */
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { muslCompiler } from './machines/zig.mjs';
import { addon, here, hostProgram, supervisor, targetOf, triple } from './platform.mjs';
import { isMain, main, root, run, tool } from './process.mjs';
import { Stamp } from './stamp.mjs';
import { addStandardLibrary } from './toolchain.mjs';

/** The first build writes no files for incremental ones, which would take half as long again. */
export const env = existsSync(join(root, 'target', triple ?? '', 'debug')) ? {} : { CARGO_INCREMENTAL: '0' };

const napi = (args, options) => run(tool('napi'), ['build', '--platform', ...args], { env, ...options });

/** Returns what cargo calls a dependency, with its version if the lock file has several. */
function specOf({ name, req }) {
  const locked = readFileSync(join(root, 'Cargo.lock'), 'utf8').matchAll(/^name = "(.+)"\nversion = "(.+)"/gm);
  const versions = [...locked].filter(([, one]) => one === name).map(([, , version]) => version);
  const own = versions.length > 1 && versions.find((version) => version.startsWith(req.replace('^', '')));
  return own ? `${name}@${own}` : name;
}

/** Compiles the crates that ours use, for a full build those of the addon. Needs nothing from npm. */
export async function compileCrates(full, options) {
  const { stdout } = await run('cargo', ['metadata', '--no-deps', '--format-version', '1'], { output: 'keep' });
  const dependencies = JSON.parse(stdout).packages.flatMap((crate) => crate.dependencies);
  const specs = new Set(
    dependencies
      .filter(({ kind, path, optional, target }) => kind === null && !path && !optional && target === null)
      .map(specOf),
  );
  const used = [...specs].flatMap((spec) => ['-p', spec]);
  // napi names the target, too.
  const build = ['build', '--target', triple, ...(full ? ['--release'] : [])];
  await run('cargo', [...build, ...used], { env, ...options });
}

const supervisorOf = ['--package', supervisor, '--bin', supervisor];
const hostOf = process.platform === 'linux' ? ['--package', 'agent-bash-remote', '--bin', hostProgram] : [];
const programs = hostOf.length > 0 ? [supervisor, hostProgram] : [supervisor];

/** The addon with its types, the supervisor, and on Linux the program for targets. */
export const native = {
  hasQuick: true,
  title: (full) => `addon and supervisor (cargo, ${full ? 'several minutes' : 'a minute or two'})`,
  stamp: new Stamp(
    'native',
    [
      'Cargo.toml',
      'Cargo.lock',
      'build.rs',
      '.cargo',
      'rust-toolchain.toml',
      'src',
      'crates',
      'package.json',
      'package-lock.json',
    ],
    [addon(here), ...programs, 'native.d.cts'],
  ),
  async build(full, options) {
    const types = ['--no-js', '--dts', 'native.d.cts', '--no-const-enum'];
    const build = ['build', '--target', triple];
    if (full) {
      await napi(['--release', ...types, '--', '--lib'], options);
      await run('cargo', [...build, '--profile', 'supervisor', ...supervisorOf], { env, ...options });
    } else {
      // One compilation for all.
      await napi([...types, '--', '--package', 'agent-bash', '--lib', ...supervisorOf, ...hostOf], options);
    }
    for (const name of programs) {
      // The old one may be running, and cannot be written to then.
      rmSync(join(root, name), { force: true });
      const built = join(root, 'target', triple, full ? 'supervisor' : 'debug', name);
      copyFileSync(full && name === hostProgram ? await program(options) : built, join(root, name));
    }
  },
};

/**
 * Builds the program for other machines, static, with the musl and the linker that come with Rust, and with zig for C
 * where this system has no compiler for it. Resolves to its path.
 *
 * - `arch`: the processor there, as Node names it. Default: that of this machine
 * - `quick`: with the profile that compiles fastest
 */
export async function program({ arch = process.arch, quick = false, ...options } = {}) {
  const target = targetOf(`linux-${arch}-musl`);
  await addStandardLibrary(target);
  const flags = [
    '-C target-feature=+crt-static',
    '-C relocation-model=static',
    '-C force-unwind-tables=no',
    '-C linker=rust-lld',
    '-C linker-flavor=ld.lld',
    '-C link-self-contained=yes',
    `-C link-arg=-T${join(root, 'crates', 'remote', 'program.ld')}`,
  ];
  // Other flags than those of the addon for musl, which would build all crates anew each time.
  const directory = join(root, 'target', 'program');
  const args = [
    'build',
    '--target-dir',
    directory,
    '--target',
    target,
    '--profile',
    quick ? 'dev' : 'host',
    '-p',
    'agent-bash-remote',
    '--bin',
    hostProgram,
  ];
  const compiler = await muslCompiler(target);
  await run('cargo', args, { ...options, env: { ...env, ...compiler, ...options.env, RUSTFLAGS: flags.join(' ') } });
  return join(directory, target, quick ? 'debug' : 'host', hostProgram);
}

/**
 * Writes index.d.ts, the types of the main entry, which are published as dist/index.d.cts. The file is checked in, so a
 * diff shows each change of the contract.
 */
function writeTypes() {
  const types = readFileSync(join(root, 'dist', 'index.d.cts'), 'utf8').trimEnd();
  const outside = /(?:from|import\()\s*['"](\.[^'"]*)['"]/.exec(types);
  if (outside) throw new Failed(`dist/index.d.cts reaches outside itself: ${outside[1]}`);
  const text = `// Written by \`npm run build:ts\` from ts/index.ts: do not edit.\n\n${types}\n`;
  const file = join(root, 'index.d.ts');
  const old = statSync(file, { throwIfNoEntry: false }) && readFileSync(file, 'utf8');
  if (old !== text) writeFileSync(file, text);
}

/** Writes the entries of the adapters for agent frameworks into package.json: one for each directory. */
function writeEntries() {
  const file = join(root, 'package.json');
  const old = readFileSync(file, 'utf8');
  const manifest = JSON.parse(old);
  const names = readdirSync(join(root, 'ts', 'frameworks')).filter((name) => name !== 'shared');
  const half = (name, letter) => ({ types: `./dist/${name}.d.${letter}ts`, default: `./dist/${name}.${letter}js` });
  const { './package.json': last, ...entries } = manifest.exports;
  for (const name of names) entries[`./${name}`] = { import: half(name, 'm'), require: half(name, 'c') };
  manifest.exports = { ...entries, './package.json': last };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  if (old !== text) writeFileSync(file, text);
}

/** The TypeScript layer. */
export const typescript = {
  hasQuick: false,
  title: () => 'TypeScript layer',
  stamp: new Stamp(
    'typescript',
    ['ts', 'tsdown.config.ts', 'tsconfig.json', 'native.d.cts', 'package.json', 'package-lock.json'],
    ['dist/index.cjs', 'dist/main.cjs', 'dist/index.d.cts', 'index.d.ts'],
  ),
  async build(_full, options) {
    const start = Date.now();
    writeEntries();
    await run(tool('tsdown'), ['--filter', 'main'], options);
    // The other entries take their types from the main one.
    writeTypes();
    await run(tool('tsdown'), ['--filter', 'entries'], options);
    const dist = join(root, 'dist');
    for (const name of readdirSync(dist)) {
      const file = join(dist, name);
      if (statSync(file).mtimeMs < start - 1000) rmSync(file, { recursive: true });
    }
  },
};

if (isMain(import.meta)) {
  const [what = 'all', flag] = process.argv.slice(2);
  const full = flag !== '--quick';
  const builds = { native: [native], ts: [typescript], all: [native, typescript] }[what];
  await main(async () => {
    if (what === 'program') return console.log(await program());
    for (const { build, stamp, hasQuick } of builds) await stamp.around(() => build(full), { full: full || !hasQuick });
  });
}
