import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { closed, pipe } from './pipes.ts';

export interface Outcome {
  stdout: string;
  stderr: string;
  exitCode: number;
}

export interface PlainOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** Time survivors of the shell may go on writing, in ms, as with `bash()`. */
const DRAIN = 250;

/** The result of a plain `bash -c` by Node's child_process, in a session of its own, with an empty stdin. */
export async function plain(script: string, options: PlainOptions): Promise<Outcome> {
  return (await plainWithin(undefined, script, options)) as Outcome;
}

/** The same of one that may not end by itself; `undefined` when it was ended after so many ms. */
export async function plainWithin(
  limitMs: number | undefined,
  script: string,
  { cwd, env }: PlainOptions,
): Promise<Outcome | undefined> {
  const [out, err] = [pipe(), pipe()];
  const child = spawn('bash', ['-c', script], {
    cwd,
    env: { ...env, PWD: cwd },
    stdio: ['ignore', out.writeEnd, err.writeEnd],
    detached: true,
  });
  closed(out);
  closed(err);
  let late = false;
  const end = () => {
    late = true;
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  };
  const limit = limitMs === undefined ? undefined : setTimeout(end, limitMs);
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  clearTimeout(limit);
  const enough = setTimeout(() => [out, err].map((one) => one.enough()), DRAIN);
  const [stdout, stderr] = await Promise.all([out.text, err.text]);
  clearTimeout(enough);
  return late ? undefined : { stdout, stderr, exitCode: code ?? 128 + constants.signals[signal ?? 'SIGKILL'] };
}
