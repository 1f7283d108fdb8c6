/** `npm run check`: everything that a change has to pass besides the tests, the fastest checks first. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { guard } from '../bench/guard/guard.mjs';
import { audited, denied } from './audit.mjs';
import { licencesAreUpToDate } from './licences.mjs';
import { makeOptions } from './options.mjs';
import { supervisor, triple } from './platform.mjs';
import { Failed, isMain, main, root, run, since, tool } from './process.mjs';
import { setUp } from './setup.mjs';
import { suitesAreComplete } from './suites.mjs';
import { hasStandardLibrary } from './toolchain.mjs';

// Without a terminal biome would still write escape sequences around every character.
const colours = process.stdout.isTTY ? [] : ['--colors=off'];

const clippy = (...what) => ['clippy', ...what, '--', '-D', 'warnings'];

/** Fails if a file that was made from the present sources differs from the one in git. */
async function isCheckedIn(path, options) {
  const { stdout } = await run('git', ['status', '--porcelain', '--', path], { ...options, output: 'keep' });
  if (!stdout) return;
  await run('git', ['--no-pager', 'diff', 'HEAD', '--', path], { ...options, allowFailure: true });
  throw new Failed(`${path} is stale in git: commit it with the change that made it another`);
}

async function optionsAreCheckedIn(options) {
  await makeOptions();
  await isCheckedIn('ts/schema', options);
}

/** Fails if a program is built with crates of the addon alone. */
async function programsAreSmall(options) {
  const others = {
    [supervisor]: ['napi', 'agent-bash-runner', 'agent-bash-safety'],
    'agent-bash-remote': ['napi', 'tree-sitter'],
  };
  for (const [program, crates] of Object.entries(others)) {
    const tree = ['tree', '--package', program, '--edges', 'normal', '--prefix', 'none', '--format', '{p}'];
    const { stdout } = await run('cargo', tree, { ...options, output: 'keep' });
    const found = crates.filter((crate) => stdout.includes(`${crate} v`));
    if (found.length > 0) throw new Failed(`${program} is built with ${found.join(', ')}`);
  }
}

/** Targets for which the gate compiles: each other system and C library, on another processor. */
const FOREIGN = ['aarch64-apple-darwin', 'aarch64-unknown-linux-musl'];

/** Compiles for other targets, as far as their standard libraries are installed. */
async function foreignTargetsCompile(options) {
  const there = await Promise.all(FOREIGN.map(hasStandardLibrary));
  const targets = FOREIGN.filter((target, index) => {
    if (!there[index])
      console.log(`not compiled for ${target}: \`rustup target add ${target}\` installs what it needs`);
    return there[index] && target !== triple;
  });
  if (targets.length === 0) return;
  const words = ['check', ...targets.flatMap((target) => ['--target', target]), '-p', 'agent-bash', '-p', supervisor];
  // Rust code is only checked, so the C code of dependencies needs no compiler.
  await run('cargo', [...words, '-p', 'agent-bash-remote'], {
    ...options,
    env: { ...options?.env, CC: 'true', AR: 'true' },
  });
}

/** Rust files that `cargo fmt` does not reach by itself, because a macro declares their modules. */
function declaredByMacros() {
  const directory = join('crates', 'safety', 'src', 'rules');
  const files = readdirSync(join(root, directory)).map((name) => join(directory, name));
  return files.filter((file) => file.endsWith('.rs'));
}

/** Checks the types in the comments of the examples, which are plain JavaScript. */
async function exampleTypes(options) {
  const directories = readdirSync(join(root, 'examples')).map((name) => join('examples', name));
  const typed = directories.filter((directory) => existsSync(join(root, directory, 'tsconfig.json')));
  for (const directory of typed) await run(tool('tsc'), ['--project', directory], options);
}

/** The checks by name. Each takes the options of `run` and throws if it fails. */
export const checks = [
  ['cargo fmt', (options) => run('cargo', ['fmt', '--all', '--check', '--', ...declaredByMacros()], options)],
  ['biome', (options) => run(tool('biome'), ['ci', '--error-on-warnings', ...colours, '.'], options)],
  ['types', (options) => run(tool('tsc'), ['--project', '.'], options)],
  ['types of the examples', exampleTypes],
  ['layers of ts/', (options) => run(tool('depcruise'), ['ts'], { ...options, output: 'keep' })],
  ['options from their schema', optionsAreCheckedIn],
  ['test suites', async () => suitesAreComplete((await import('./stress.mjs')).PARTS)],
  // These two parse TypeScript with a dependency, which a fresh clone does not have yet when this file is loaded.
  ['layers and names', async (options) => (await import('./layers.mjs')).layered(options)],
  ['index.d.ts', (options) => isCheckedIn('index.d.ts', options)],
  ['licences', licencesAreUpToDate],
  ['npm audit', audited],
  ['cargo deny', denied],
  ['clippy', (options) => run('cargo', clippy('--workspace', '--all-targets'), options)],
  ['other targets', foreignTargetsCompile],
  ['programs without crates of the addon', programsAreSmall],
  // The paths of whole commands need the optimized addon, whose build takes longer than all other checks.
  ['speed of pure paths', (options) => guard({ pure: true, ...options })],
];

if (isMain(import.meta)) {
  await main(async () => {
    await setUp();
    const failed = [];
    for (const [name, check] of checks) {
      const start = performance.now();
      try {
        await check({});
        console.log(`${name}: right, ${since(start)}`);
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        console.log(`${name}: WRONG, ${since(start)}: ${error.message}`);
        failed.push(name);
      }
    }
    if (failed.length > 0) throw new Failed(`wrong: ${failed.join(', ')}`);
  });
}
