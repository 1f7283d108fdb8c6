import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readlink, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from '../../support/until.ts';

/** The directory of the example. */
export const EXAMPLE = join(import.meta.dirname, '../../../examples/coding-agent');

/** Creates a directory for one test and returns its real path. The directory is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-bash-test-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A run of the example. */
export interface Run {
  child: ChildProcess;
  /** The directory for the example's temporary files. */
  temporary: string;
  /** All of standard output so far. */
  text(): string;
  /** Resolves once standard output holds this; rejects when the run ends before. */
  until(pattern: RegExp): Promise<void>;
  /** The end of it. */
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

/** Starts the example in a pipe. Its environment has no keys except those in `env`. */
export async function start(args: string[], env: Record<string, string> = {}, cwd?: string): Promise<Run> {
  const temporary = await temporaryFolder();
  const clean: NodeJS.ProcessEnv = { ...process.env };
  for (const name of Object.keys(clean))
    if (/^(AI_GATEWAY_|AGENT_BASH_MODEL$|NO_COLOR$|FORCE_COLOR$|INIT_CWD$|npm_)/.test(name)) delete clean[name];
  const child = spawn(process.execPath, [join(EXAMPLE, 'main.mjs'), ...args], {
    env: { ...clean, TMPDIR: temporary, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    child.emit('said');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return {
    child,
    temporary,
    ended,
    text: () => stdout,
    async until(pattern) {
      let over = false;
      ended.then(() => {
        over = true;
        child.emit('said');
      });
      while (!pattern.test(stdout)) {
        if (over) throw new Error(`ended without ${pattern}:\n${stdout}\n${stderr}`);
        await once(child, 'said');
      }
    },
  };
}

/** Pids of processes that work in a directory or below it (on Linux; elsewhere none is ever found). */
async function processesIn(folder: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(name)) continue;
    const cwd = await readlink(`/proc/${name}/cwd`).catch(() => '');
    if (cwd.startsWith(folder)) found.push(Number(name));
  }
  return found;
}

/** Resolves when no process is left. The helpers of an ended host take a moment to notice and clean up. */
export async function nothingIn(folder: string): Promise<void> {
  await until(async () => (await processesIn(folder)).length === 0, `no process works in ${folder} any more`);
}
