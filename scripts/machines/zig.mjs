/**
 * Builds for other platforms than this machine's, with zig as the C compiler and linker: it brings the C libraries of
 * all of them. `node scripts/machines/zig.mjs PLATFORM…` prints the directory with the binaries of each.
 */
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { addon, GLIBC, hostProgram, supervisor, targetOf, triple } from '../platform.mjs';
import { isMain, main, root, run } from '../process.mjs';
import { addStandardLibrary } from '../toolchain.mjs';

const minutes = 60_000;

/** The directory of what is downloaded or built once for all clones. */
export const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'agent-bash', 'machines');

const ZIG = { 'cargo-zigbuild': '0.24.1', ziglang: '0.17.1' };

/** Installs zig and cargo-zigbuild from PyPI, and resolves to the directory of their programs. */
async function zig() {
  const place = join(cache, `zig-${ZIG.ziglang}-${ZIG['cargo-zigbuild']}`);
  const bin = join(place, 'bin');
  if (existsSync(join(bin, 'cargo-zigbuild'))) return bin;
  rmSync(place, { recursive: true, force: true });
  const options = { output: 'keep', limitMs: 5 * minutes };
  await run('python3', ['-m', 'venv', place], options);
  const wanted = Object.entries(ZIG).map(([name, version]) => `${name}==${version}`);
  await run(join(bin, 'python3'), ['-m', 'pip', 'install', '--quiet', ...wanted], options);
  return bin;
}

/**
 * The environment by which build scripts compile C for a target with musl, as the cryptography of secrets needs it.
 * Empty where this system has a compiler for that.
 */
export async function muslCompiler(target) {
  const gcc = `${target.split('-')[0]}-linux-musl-gcc`;
  const { code } = await run('sh', ['-c', `command -v ${gcc}`], { output: 'keep', allowFailure: true });
  if (triple === target || code === 0) return {};
  const bin = await zig();
  const [words, name] = [`${join(bin, 'cargo-zigbuild')} zig`, target.replaceAll('-', '_')];
  return {
    CARGO_ZIGBUILD_ZIG_PATH: join(bin, 'python-zig'),
    [`CC_${name}`]: `${words} cc -- -fno-sanitize=all -target ${target.replace('-unknown', '')}`,
    [`AR_${name}`]: `${words} ar`,
  };
}

/** The environment and the words by which cargo builds for a platform, and cargo's name of its target. */
export async function cross(platform) {
  const target = targetOf(platform);
  const [bin] = await Promise.all([zig(), addStandardLibrary(target)]);
  const env = {
    PATH: [bin, process.env.PATH].join(delimiter),
    CARGO_INCREMENTAL: '0',
    // An emulated machine reads a program slowly, of which symbols are the larger part.
    CARGO_PROFILE_DEV_STRIP: 'symbols',
    ...(platform.startsWith('darwin') && { RUSTFLAGS: `-Lframework=${join(root, 'scripts', 'macos')}` }),
    // The addon and the supervisor use the musl of the system.
    ...(platform.endsWith('-musl') && { RUSTFLAGS: '-C target-feature=-crt-static' }),
  };
  const name = platform.endsWith('-gnu') ? `${target}.${GLIBC}` : target;
  return { target, name, env };
}

/**
 * Builds addon and supervisor for a platform, and copies them into one directory. Resolves to its path. With `full`
 * each has its profile of a release. By default both have the one that compiles fastest, and so has the program for
 * targets, which comes along on Linux.
 */
export async function build(platform, { full = false, ...options } = {}) {
  const { target, name, env } = await cross(platform);
  const out = join(root, 'target', 'cross', platform, full ? 'release' : 'dev');
  mkdirSync(out, { recursive: true });
  const library = platform.startsWith('darwin') ? 'libagent_bash.dylib' : 'libagent_bash.so';
  const quick = { words: ['-p', 'agent-bash-remote', '--bin', hostProgram], file: hostProgram };
  const parts = [
    { words: ['-p', 'agent-bash', '--lib'], profile: 'release', file: library, to: addon(platform) },
    { words: ['-p', supervisor, '--bin', supervisor], profile: 'supervisor', file: supervisor },
    ...(platform.startsWith('linux') && !full ? [quick] : []),
  ];
  // One compilation for all that have one profile.
  const calls = full ? parts : [{ profile: 'dev', words: parts.flatMap(({ words }) => words) }];
  for (const { profile, words } of calls) {
    await run('cargo-zigbuild', ['build', '--profile', profile, '--target', name, ...words], { ...options, env });
  }
  for (const { profile, file, to = file } of parts) {
    copyFileSync(join(root, 'target', target, full ? profile : 'debug', file), join(out, to));
  }
  return out;
}

if (isMain(import.meta)) {
  await main(async () => {
    for (const platform of process.argv.slice(2)) console.log(await build(platform));
  });
}
