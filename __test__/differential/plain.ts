import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

export interface Outcome {
  stdout: string;
  stderr: string;
  exitCode: number;
}

export interface PlainOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Where its streams go, since Node's own pipes are sockets, which some programs cannot open again. */
  folder: string;
  /** Kills one that takes longer, in ms: its exit code is then that of SIGKILL. */
  limitMs?: number;
}

/** What a plain `bash -c` of Node's child_process makes of a script: in a session of its own, with nothing on stdin. */
export async function plain(script: string, { cwd, env, folder, limitMs = 0 }: PlainOptions): Promise<Outcome> {
  const paths = ['stdout', 'stderr'].map((name) => join(folder, name));
  for (const path of paths) rmSync(path, { force: true });
  const [out = 0, err = 0] = paths.map((path) => openSync(path, 'a', 0o600));
  const child = spawn('bash', ['-c', script], { cwd, env, stdio: ['ignore', out, err], detached: true });
  closeSync(out);
  closeSync(err);
  const limit = limitMs === 0 ? undefined : setTimeout(() => endGroup(child.pid), limitMs);
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  clearTimeout(limit);
  const [stdout = '', stderr = ''] = paths.map((path) => readFileSync(path, 'utf8'));
  return { stdout, stderr, exitCode: code ?? 128 + constants.signals[signal ?? 'SIGKILL'] };
}

function endGroup(pid: number | undefined): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
}
