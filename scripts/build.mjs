/** Builds: `npm run build`, `build:native` (addon and supervisor), `build:ts` (the TypeScript layer and index.d.ts). */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addon, here, supervisor } from './platform.mjs';
import { Failed, isMain, main, root, run, tool } from './process.mjs';
import { Stamp } from './stamp.mjs';

const napi = (args, options) => run(tool('napi'), ['build', '--platform', '--release', ...args], options);

/** The addon with its loader and types, and the supervisor. */
export const native = {
  title: 'addon and supervisor (cargo, a minute or two)',
  stamp: new Stamp(
    'native',
    [
      'Cargo.toml',
      'Cargo.lock',
      'build.rs',
      '.cargo',
      'rust-toolchain.toml',
      'src',
      'package.json',
      'package-lock.json',
    ],
    [addon(here), supervisor, 'native.cjs', 'native.d.cts'],
  ),
  async build(options) {
    await napi(['--js', 'native.cjs', '--dts', 'native.d.cts', '--no-const-enum', '--', '--lib'], options);
    // Without napi and tokio it is half the size.
    await run(
      tool('napi'),
      ['build', '--platform', '--profile', 'supervisor', '--bin', supervisor, '--no-default-features'],
      options,
    );
  },
};

/** The types of the main entry, as published: one file, checked in, so that a change of the contract shows in a diff. */
function writeTypes() {
  const types = readFileSync(join(root, 'dist', 'index.d.cts'), 'utf8').trimEnd();
  const outside = /(?:from|import\()\s*['"](\.[^'"]*)['"]/.exec(types);
  if (outside) throw new Failed(`dist/index.d.cts reaches outside itself: ${outside[1]}`);
  const text = `// Written by \`npm run build:ts\` from ts/index.ts: do not edit.\n\n${types}\n`;
  const file = join(root, 'index.d.ts');
  const old = statSync(file, { throwIfNoEntry: false }) && readFileSync(file, 'utf8');
  if (old !== text) writeFileSync(file, text);
}

/** The TypeScript layer. */
export const typescript = {
  title: 'TypeScript layer',
  stamp: new Stamp(
    'typescript',
    ['ts', 'tsdown.config.ts', 'tsconfig.json', 'native.d.cts', 'package.json', 'package-lock.json'],
    ['dist/index.cjs', 'dist/index.d.cts', 'index.d.ts'],
  ),
  async build(options) {
    const start = Date.now();
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
  const builds = { native: [native], ts: [typescript], all: [native, typescript] }[process.argv[2] ?? 'all'];
  await main(async () => {
    for (const { build, stamp } of builds) await stamp.around(() => build());
  });
}
