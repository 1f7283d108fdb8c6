import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import { BashError, type BashOptions } from 'agent-bash';
import { onAbort } from '../../core/abort.ts';
import type { ToolSandbox } from '../types.ts';
import { isSession } from './options.ts';
import type { Whole, Written } from './output.ts';
import { describeError } from './process.ts';

/** Time the sandbox may take to make the directory private and to write the file, in ms. */
const PRIVATE_MS = 5_000;
const WRITE_MS = 30_000;
/** Time to write the file of a command that was ended, in ms. It is shorter because the caller is waiting. */
const WRITE_ENDED_MS = 5_000;

/**
 * Writes the streams that exceed their limits into files of the sandbox, in a private directory below `spill.dir` or
 * `/tmp`.
 */
export async function writeInSandbox(
  sandbox: ToolSandbox,
  streams: Whole[],
  { spill = true, signal: caller }: BashOptions,
  wasEnded: boolean,
): Promise<Partial<Record<Whole['stream'], Written>>> {
  if (streams.length === 0 || spill === false || !takesFiles(sandbox)) return {};
  const { dir = '/tmp' } = typeof spill === 'object' ? spill : {};
  const folder = posix.join(dir, `agent-bash-${randomUUID()}`);
  const written: Partial<Record<Whole['stream'], Written>> = {};
  // The abort that ended the command does not apply to writing its output.
  const stop = wasEnded ? undefined : caller;
  await within(PRIVATE_MS, stop, (signal) => makePrivate(sandbox, folder, signal)).catch(() => {});
  for (const { stream, text, cut } of streams) {
    const path = posix.join(folder, `${stream}.txt`);
    try {
      await within(wasEnded ? WRITE_ENDED_MS : WRITE_MS, stop, (signal) => write(sandbox, path, text, signal));
      written[stream] = { path, error: cut };
    } catch (error) {
      written[stream] = { path: null, error: `the sandbox did not take the file: ${describeError(error)}` };
    }
  }
  return written;
}

function takesFiles(sandbox: ToolSandbox): boolean {
  return typeof (isSession(sandbox) ? sandbox.writeTextFile : sandbox.writeFiles) === 'function';
}

/**
 * The directory becomes private before it holds anything. If that fails, its files have the sandbox's default
 * permissions.
 */
async function makePrivate(sandbox: ToolSandbox, folder: string, signal: AbortSignal): Promise<void> {
  const command = `mkdir -p -m 700 -- '${folder.replaceAll("'", "'\\''")}'`;
  if (isSession(sandbox)) await sandbox.run({ command, abortSignal: signal });
  else await sandbox.runCommand({ cmd: 'bash', args: ['-c', command], signal });
}

async function write(sandbox: ToolSandbox, path: string, content: string, signal: AbortSignal): Promise<void> {
  if (isSession(sandbox)) await sandbox.writeTextFile?.({ path, content, abortSignal: signal });
  else await sandbox.writeFiles?.([{ path, content: Buffer.from(content) }]);
}

/** Resolves with the work's value, or rejects after a time limit or an abort: a sandbox may never answer. */
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
