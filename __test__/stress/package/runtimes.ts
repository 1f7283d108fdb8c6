import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { npmProgram, root, run } from './packed.ts';

const cache = join(root, 'node_modules', '.cache', 'runtimes');

/** Something that runs JavaScript, as an npm package that holds nothing but its program. */
export interface Runtime {
  /** As people call it: `'Node 22'`. */
  title: string;
  /** The npm package with its version range. */
  spec: string;
  /** The program in that package. */
  program: string;
  /** Its words before a script. */
  words?: string[];
}

const node = (major: number): Runtime => ({
  title: `Node ${major}`,
  spec: `node-${process.platform}-${process.arch}@${major}`,
  program: 'bin/node',
});

const bunArch = process.arch === 'arm64' ? 'aarch64' : process.arch;

/** The runtimes that the package supports. */
export const runtimes: Runtime[] = [
  ...[20, 22, 24, 26].map(node),
  { title: 'Bun 1', spec: `@oven/bun-${process.platform}-${bunArch}@1`, program: 'bin/bun' },
  {
    title: 'Deno 2',
    spec: `@deno/${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}@2`,
    program: 'deno',
    words: ['run', '--allow-all'],
  },
];

/** The program of a runtime, fetched once and kept beside the dependencies; `undefined` where it cannot be had. */
export async function programOf({ spec, program }: Runtime): Promise<string | undefined> {
  const file = join(cache, spec.replaceAll('/', '-'));
  if (existsSync(file)) return file;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'new-'));
  try {
    const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', spec];
    const { code } = await run(process.execPath, [await npmProgram(), ...args], folder, process.env, 240_000);
    // Written atomically, because other tests may do the same. The rest of the package is npm and headers.
    if (code === 0) renameSync(join(folder, 'node_modules', spec.slice(0, spec.lastIndexOf('@')), program), file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return existsSync(file) ? file : undefined;
}
