/** `npm run check`: everything but the tests that a change has to pass, in the order of what is soonest known. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audited, denied } from './audit.mjs';
import { licencesAreUpToDate } from './licences.mjs';
import { Failed, isMain, main, root, run, since, tool } from './process.mjs';
import { setUp } from './setup.mjs';

// In a log biome would write an escape sequence around every character.
const colours = process.stdout.isTTY ? [] : ['--colors=off'];

const clippy = (...features) => ['clippy', '--all-targets', ...features, '--', '-D', 'warnings'];

/** The set-up wrote index.d.ts from the sources as they are; the one in git must be the same. */
async function typesAreCheckedIn(options) {
  const { stdout } = await run('git', ['status', '--porcelain', '--', 'index.d.ts'], { ...options, output: 'keep' });
  if (!stdout) return;
  await run('git', ['--no-pager', 'diff', 'HEAD', '--', 'index.d.ts'], { ...options, allowFailure: true });
  throw new Failed('index.d.ts is stale in git: commit it with the change that made it another');
}

/** Packs, and has the tarball of the main package looked at as registries and compilers will see it. */
async function packs(options) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-bash-check-'));
  try {
    const packing = [join(root, 'scripts', 'pack.mjs'), folder];
    const { stdout } = await run(process.execPath, packing, { ...options, output: 'keep' });
    const tarball = stdout.trim().split('\n').at(-1);
    await run(tool('publint'), ['run', tarball, '--strict'], options);
    const plain = ['--no-definitely-typed', '--no-emoji', '--format', 'ascii'];
    await run(tool('attw'), [tarball, ...plain], { ...options, output: 'keep' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The checks by name; each throws when it fails, and takes the options of `run`. */
export const checks = [
  ['cargo fmt', (options) => run('cargo', ['fmt', '--check'], options)],
  ['biome', (options) => run(tool('biome'), ['ci', '--error-on-warnings', ...colours, '.'], options)],
  ['types', (options) => run(tool('tsc'), ['--project', '.'], options)],
  ['index.d.ts', typesAreCheckedIn],
  ['pack, publint, attw', packs],
  ['licences', licencesAreUpToDate],
  ['npm audit', audited],
  ['cargo deny', denied],
  ['clippy', (options) => run('cargo', clippy(), options)],
  ['clippy, supervisor only', (options) => run('cargo', clippy('--no-default-features'), options)],
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
