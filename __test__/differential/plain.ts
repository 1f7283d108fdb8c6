import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

export interface Outcome {
  stdout: string;
  stderr: string;
  exitCode: number;
}

/**
 * What a plain `bash -c` of Node's child_process makes of a script: in a session of its own, with nothing on stdin. Its
 * streams go to files in `folder`, since Node's own pipes are sockets, which some programs cannot open again.
 */
export async function plain(script: string, cwd: string, env: NodeJS.ProcessEnv, folder: string): Promise<Outcome> {
  const paths = ['stdout', 'stderr'].map((name) => join(folder, name));
  const [out = 0, err = 0] = paths.map((path) => openSync(path, 'a', 0o600));
  const child = spawn('bash', ['-c', script], { cwd, env, stdio: ['ignore', out, err], detached: true });
  closeSync(out);
  closeSync(err);
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  const [stdout = '', stderr = ''] = paths.map((path) => readFileSync(path, 'utf8'));
  return { stdout, stderr, exitCode: code ?? 128 + constants.signals[signal ?? 'SIGKILL'] };
}
