import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package with the program for targets, which is installed by itself. */
export const HOST = 'agent-bash-host';

/** A bound against a hang: xz takes its time, and suites pack at once. */
export const PACKING = 170_000;

/** The root of the clone. */
export const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/** How a program ended. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end, with nothing to read and for 50 s at most (`timeout`); a failure is a result. */
export function run(
  file: string,
  args: string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
  timeout = 50_000,
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(file, args, { cwd, env, timeout }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) || 1 : 0, stdout, stderr });
    });
    child.stdin?.end();
  });
}

/** An empty project with the packed tarballs installed, on a PATH without a compiler and without network access. */
export interface PackedProject {
  /** The project's directory. */
  folder: string;
  /** The tarballs, by package name. */
  tarballs: Map<string, string>;
  /** The platform package's directory, as installed. */
  platform: string;
  /** The environment the project lives in. */
  env: NodeJS.ProcessEnv;
  /** The output of npm. */
  installed: Ended;
  /** Installs further tarballs by their names. */
  install(...names: string[]): Promise<Ended>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The JavaScript file that is npm. */
export async function npmProgram(): Promise<string> {
  return process.env.npm_execpath ?? (await run('bash', ['-c', 'realpath "$(command -v npm)"'], root)).stdout.trim();
}

/** A PATH with bash and Node, and no cargo, cc or make on it. */
async function bareEnvironment(folder: string): Promise<NodeJS.ProcessEnv> {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const path = (process.env.PATH ?? '').split(':');
  for (const name of ['bash', 'sh', 'env', 'cat', 'sleep']) {
    const at = path.map((part) => join(part, name)).find((file) => existsSync(file));
    if (at) await symlink(at, join(bin, name));
  }
  await symlink(process.execPath, join(bin, 'node'));
  return { PATH: bin, HOME: folder, TMPDIR: folder, npm_config_cache: join(folder, 'cache') };
}

/** Packs the clone and installs the tarballs. */
export async function packedProject(): Promise<PackedProject> {
  const base = await mkdtemp(join(tmpdir(), 'agent-bash-packed-'));
  const args = [join(root, 'scripts', 'pack.mjs'), join(base, 'tarballs')];
  const packed = await run(process.execPath, args, root, process.env, PACKING);
  if (packed.code !== 0) throw new Error(`packing failed: ${packed.stderr}`);
  const files = packed.stdout.trim().split('\n');
  const tarballs = new Map(files.map((file) => [basename(file).replace(/-\d+\.\d+\.\d+.*$/, ''), file]));
  const name = [...tarballs.keys()].find((key) => key !== 'agent-bash' && key !== HOST);
  if (!name) throw new Error(`no platform package among ${files.join(', ')}`);

  const folder = join(base, 'project');
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'empty', private: true }));
  const bare = await bareEnvironment(base);
  // npm itself is found by its path. Only its child processes see the bare PATH.
  const npm = await npmProgram();
  const install = (...names: string[]) => {
    const args = [
      'install',
      '--offline',
      '--no-audit',
      '--no-fund',
      ...names.map((name) => tarballs.get(name) ?? name),
    ];
    return run(process.execPath, [npm, ...args], folder, bare);
  };
  const installed = await install(name, 'agent-bash');
  return {
    folder,
    tarballs,
    platform: join(folder, 'node_modules', name),
    env: bare,
    installed,
    install,
    [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true }),
  };
}
