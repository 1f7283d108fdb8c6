import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addon, here } from '../../scripts/platform.mjs';
import { CONFINED_BY_DEFAULT, confined } from './confined/index.ts';
import { finished } from './finished.ts';
import { settles, until, WAIT } from './until.ts';
import { moduleOf, way } from './way.ts';

export const packageRoot = fileURLToPath(new URL('../../', import.meta.url));
/** The file of the addon that the tests use. */
export const ADDON = join(packageRoot, addon(here));
export const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

export interface Host {
  pid: number;
  process: ChildProcess;
  /** Its output so far. */
  stdout(): string;
  stderr(): string;
  /** Waits for printed text. Returns the match. */
  says(pattern: RegExp, bound?: number): Promise<RegExpExecArray>;
  /** Waits for its exit and the end of its output. */
  ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface HostOptions {
  env?: NodeJS.ProcessEnv;
  /** Shell text to run before Node takes the place of that shell, such as `ulimit -n 512`. */
  before?: string;
  execArgv?: string[];
  /** Whether it gets a session and a process group of its own. */
  detached?: boolean;
}

/** The runner of the tests may have left descriptors open, and they would count against the limit of a host. */
const CLOSE_INHERITED = 'for fd in /dev/fd/*; do ((${fd##*/} > 2)) && eval "exec ${fd##*/}>&-"; done';

/**
 * Starts another Node process that has imported `bash`, in the way of this project, and runs `source`, a module with
 * top-level await.
 */
export function host(
  source: string,
  { env = {}, before = '', execArgv = [], detached = false }: HostOptions = {},
): Host {
  const text = `import { bash, TRUNCATE } from 'agent-bash';\nvoid TRUNCATE;\n${source}`;
  const module = way ? text.replaceAll("from 'agent-bash'", `from '${moduleOf(way)}'`) : text;
  const confining = confined ? ['--import', CONFINED_BY_DEFAULT] : [];
  const argv = [process.execPath, ...confining, ...execArgv, '--input-type=module', '--eval', module];
  const child = spawn('bash', ['-c', `${CLOSE_INHERITED}\n${before}\nexec "$@"`, 'bash', ...argv], {
    cwd: packageRoot,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  finished(() => {
    child.kill('SIGKILL');
  });
  return {
    pid: child.pid ?? 0,
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    says: async (pattern, bound) => {
      try {
        return await until(() => pattern.exec(stdout), `the host says ${pattern}`, bound);
      } catch (error) {
        throw new Error(`${(error as Error).message}; it said: ${stdout}${stderr}`);
      }
    },
    ended: async () => {
      const [code, signal] = await settles(closed, 2 * WAIT);
      return { code, signal };
    },
  };
}

/** Runs such a process to its exit and returns its output, parsed as JSON. Fails with its errors. */
export async function hostResult<T>(source: string, options?: HostOptions): Promise<T> {
  const running = host(source, options);
  const { code, signal } = await running.ended();
  if (code !== 0) throw new Error(`the host ended with ${code ?? signal}: ${running.stdout()}${running.stderr()}`);
  return JSON.parse(running.stdout()) as T;
}
