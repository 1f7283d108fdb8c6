import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { confined, outside } from '../support/index.ts';

/** A directory of the test's own, by its real path; it goes when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-bash-test-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Whether a process is there and is not only waiting to be reaped. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ') Z');
  return !/\) [ZX]/.test(stat);
}

/** The pid that a command writes into a file in its directory, once it is there; the one outside of a confinement. */
export function pidFrom(path: string): Promise<number> {
  return vi.waitFor(
    async () => {
      const inside = Number(await readFile(path, 'utf8'));
      const pid = confined ? outside(inside, dirname(path)) : inside;
      if (!(pid && pid > 0)) throw new Error(`no pid in ${path} yet`);
      return pid;
    },
    { timeout: 10_000, interval: 10 },
  );
}

/** All of a stream as text. */
export async function textOf(stream: ReadableStream<Uint8Array> | null): Promise<string | null> {
  return stream && new Response(stream).text();
}
