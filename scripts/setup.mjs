/**
 * Makes a clone ready: dependencies, addon and supervisor, TypeScript layer. `npm start` and `npm test` call it first. What is there and
 * up to date is not made again, which takes some 50 ms to find out. Only Node's own modules are used.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { native, typescript } from './build.mjs';
import { exclusively } from './lock.mjs';
import { Failed, isMain, main, npm, root, run, since } from './process.mjs';
import { state } from './stamp.mjs';

const json = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));

const dependencies = {
  title: 'dependencies (npm ci)',
  /** Whether node_modules holds what the lock says, whoever installed it. */
  fresh() {
    // npm writes it at the end of an installation. What it says is not to be relied on: `npm install --package-lock-only` writes it too.
    if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) return false;
    return Object.entries(json('package-lock.json').packages).every(([path, entry]) => {
      if (path === '') return true;
      const file = join(path, 'package.json');
      return existsSync(join(root, file)) ? json(file).version === entry.version : entry.optional;
    });
  },
  make: (options) =>
    run(npm, ['ci', '--include=dev', '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund'], options),
};

const built = ({ title, stamp, build }) => ({
  title,
  fresh: () => stamp.fresh(),
  make: (options) => stamp.around(() => build(options)),
});

const steps = [dependencies, built(native), built(typescript)];

/** What is needed and cannot be installed from here. */
async function requireTools() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 17)) {
    throw new Failed(`Node ${process.versions.node} is too old: 20.17 or later is needed`);
  }
  if (process.platform === 'win32') throw new Failed('agent-bash is not built on Windows itself: use it inside WSL');
  try {
    await run('cargo', ['--version'], { output: 'keep' });
  } catch (error) {
    throw new Failed(`${error.message}: building the addon needs the Rust toolchain (rustup.rs), 1.88 or later`);
  }
}

/** Does what is missing; `log` is called with a line for each step that is not there yet. */
export async function setUp(log = (line) => console.error(line)) {
  if (steps.every((step) => step.fresh())) return;
  const waiting = (pid) => log(`set-up: waiting for process ${pid}, which is at it`);
  await exclusively(
    join(state, 'turns'),
    async () => {
      if (steps.every((step) => step.fresh())) return;
      await requireTools();
      for (const { title, fresh, make } of steps) {
        if (fresh()) continue;
        const start = performance.now();
        log(`set-up: ${title} …`);
        try {
          await make({ output: 'keep' });
        } catch (error) {
          throw new Failed(`set-up: ${title} failed after ${since(start)}: ${error.message}`, error.output);
        }
        log(`set-up: ${title} done in ${since(start)}`);
      }
    },
    waiting,
  );
}

if (isMain(import.meta)) await main(() => setUp());
