import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import { BashError, type BashOptions } from 'agent-bash';
import { onAbort } from '../../abort.ts';
import type { Whole, Written } from './output.ts';
import { said } from './said.ts';
import { isSession } from './sandbox.ts';
import type { ToolSandbox } from './types.ts';

/** How long the sandbox may take to make the file private, and to take it, in ms. */
const PRIVATE_MS = 5_000;
const WRITE_MS = 30_000;
/** The same for a command that was ended: somebody waits. */
const WRITE_ENDED_MS = 5_000;

/** Writes the streams that do not fit into files of the sandbox: below `spill.dir` there, else `/tmp`, in a folder that nobody else reads. */
export async function writeThere(
  sandbox: ToolSandbox,
  streams: Whole[],
  { spill = true, signal: caller }: BashOptions,
  wasEnded: boolean,
): Promise<Partial<Record<Whole['stream'], Written>>> {
  if (streams.length === 0 || spill === false || !takesFiles(sandbox)) return {};
  const { dir = '/tmp' } = typeof spill === 'object' ? spill : {};
  const folder = posix.join(dir, `agent-bash-${randomUUID()}`);
  const written: Partial<Record<Whole['stream'], Written>> = {};
  // The abort that has ended the command is not one of this.
  const stop = wasEnded ? undefined : caller;
  await within(PRIVATE_MS, stop, (signal) => makePrivate(sandbox, folder, signal)).catch(() => {});
  for (const { stream, text, cut } of streams) {
    const path = posix.join(folder, `${stream}.txt`);
    try {
      await within(wasEnded ? WRITE_ENDED_MS : WRITE_MS, stop, (signal) => write(sandbox, path, text, signal));
      written[stream] = { path, error: cut };
    } catch (error) {
      written[stream] = { path: null, error: `the sandbox did not take the file: ${said(error)}` };
    }
  }
  return written;
}

function takesFiles(sandbox: ToolSandbox): boolean {
  return typeof (isSession(sandbox) ? sandbox.writeTextFile : sandbox.writeFiles) === 'function';
}

/** Before anything is in it; where that cannot be done, what lies there is as private as the sandbox makes it. */
async function makePrivate(sandbox: ToolSandbox, folder: string, signal: AbortSignal): Promise<void> {
  const command = `mkdir -p -m 700 -- '${folder.replaceAll("'", "'\\''")}'`;
  if (isSession(sandbox)) await sandbox.run({ command, abortSignal: signal });
  else await sandbox.runCommand({ cmd: 'bash', args: ['-c', command], signal });
}

async function write(sandbox: ToolSandbox, path: string, content: string, signal: AbortSignal): Promise<void> {
  if (isSession(sandbox)) await sandbox.writeTextFile?.({ path, content, abortSignal: signal });
  else await sandbox.writeFiles?.([{ path, content: Buffer.from(content) }]);
}

/** A sandbox may never answer, and a caller may not want to wait for it. */
async function within(
  ms: number,
  caller: AbortSignal | undefined,
  ask: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const stop = (why: string) => controller.abort(new BashError('ERR_BASH_SPAWN', why));
  const timer = setTimeout(() => stop(`no answer within ${ms / 1000} s`), ms);
  const forget = caller && onAbort(caller, () => stop('interrupted'));
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  if (caller?.aborted) stop('interrupted');
  try {
    await Promise.race([ask(signal), stopped]);
  } finally {
    clearTimeout(timer);
    forget?.();
  }
}
