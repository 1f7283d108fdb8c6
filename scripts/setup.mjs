/**
 * Makes a clone ready: dependencies, addon and supervisor, TypeScript layer. `npm start` and `npm test` call it first.
 * A step whose outputs are up to date is skipped, and checking all steps takes about 50 ms. The script imports only
 * Node's own modules.
 *
 * `--full` asks for the optimized addon (scripts/build.mjs); without it a quick build is enough.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileCrates, native, typescript } from './build.mjs';
import { exclusively } from './lock.mjs';
import { Failed, isMain, main, npm, root, run, since } from './process.mjs';
import { state } from './stamp.mjs';

const json = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));

const dependencies = {
  title: () => 'dependencies (npm ci, cargo)',
  /** Whether node_modules holds the versions of the lock, by any means of installation. */
  fresh() {
    // npm writes this file at the end of an installation. Its content proves nothing: `npm install --package-lock-only`
    // writes it, too.
    if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) return false;
    return Object.entries(json('package-lock.json').packages).every(([path, entry]) => {
      if (path === '') return true;
      const file = join(path, 'package.json');
      return existsSync(join(root, file)) ? json(file).version === entry.version : entry.optional;
    });
  },
  /** npm waits for the network, so cargo has the processor meanwhile. */
  async make(full, options) {
    const flags = ['--include=dev', '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
    const all = await Promise.allSettled([run(npm, ['ci', ...flags], options), compileCrates(full, options)]);
    for (const { reason } of all) if (reason) throw reason;
  },
};

const built = ({ title, stamp, build, hasQuick }) => ({
  title,
  fresh: (full) => stamp.fresh({ full: full && hasQuick }),
  make: (full, options) => stamp.around(() => build(full, options), { full: full || !hasQuick }),
});

const steps = [dependencies, built(native), built(typescript)];

/** Throws `Failed` if a tool is missing that the set-up cannot install. */
async function requireTools() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 17)) {
    throw new Failed(`Node ${process.versions.node} is too old: 20.17 or later is needed`);
  }
  if (process.platform === 'win32') throw new Failed('agent-bash is not built on Windows itself: use it inside WSL');
  try {
    await run('cargo', ['--version'], { output: 'keep' });
  } catch (error) {
    throw new Failed(`${error.message}: building the addon needs the Rust toolchain (rustup.rs), 1.95 or later`);
  }
}

/**
 * Runs the steps whose outputs are missing or stale. `log` is called with one line when a step starts and one when it
 * is done.
 */
export async function setUp({ full = false, log = (line) => console.error(line) } = {}) {
  if (steps.every((step) => step.fresh(full))) return;
  const waiting = (pid) => log(`set-up: waiting for the set-up of process ${pid}`);
  await exclusively(
    join(state, 'turns'),
    async () => {
      if (steps.every((step) => step.fresh(full))) return;
      await requireTools();
      for (const { title: titleOf, fresh, make } of steps) {
        if (fresh(full)) continue;
        const title = titleOf(full);
        const start = performance.now();
        log(`set-up: ${title} …`);
        try {
          await make(full, { output: 'keep' });
        } catch (error) {
          throw new Failed(`set-up: ${title} failed after ${since(start)}: ${error.message}`, error.output);
        }
        log(`set-up: ${title} done in ${since(start)}`);
      }
    },
    waiting,
  );
}

if (isMain(import.meta)) await main(() => setUp({ full: process.argv.includes('--full') }));
