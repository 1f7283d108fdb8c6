import { BashError } from 'agent-bash';
import { said } from './said.ts';
import { isSession } from './sandbox.ts';
import type { SandboxCommandProcess, ToolSandbox, ToolSandboxSession } from './types.ts';

/** How long the streams of a command may stay open after its end, in ms: something it left running may hold them. */
const DRAIN_MS = 2_000;

/** How long one stream is read before everything else has its turn, in ms. */
const TURN_MS = 10;

/** One command as a sandbox is given it. */
export interface Order {
  command: string;
  cwd: string | undefined;
  env: Record<string, string>;
  signal: AbortSignal;
  /** Hears the output. */
  hear(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void>;
}

/** A command that a sandbox has started. */
export interface There {
  /** 0 where the sandbox tells none. */
  pid: number;
  /** What the sandbox says of its end. Rejects when it loses the command. */
  ended: Promise<{ exitCode: unknown; notes: string[] }>;
  /** Ends it; the sandbox is told by the signal, too. */
  kill(): void;
}

/**
 * Starts a command in a sandbox. Rejects when that says that nothing could be run, and with `ERR_BASH_SPAWN` for what is no answer. Where it
 * cannot be started and then waited for, nobody knows more before its end than that it was asked for.
 */
export async function startThere(sandbox: ToolSandbox, order: Order): Promise<There> {
  const { command, cwd, env, signal } = order;
  if (!isSession(sandbox)) {
    const finished = await sandbox.runCommand({
      cmd: 'bash',
      args: ['-c', command],
      ...(cwd !== undefined && { cwd }),
      env,
      signal,
    });
    if (typeof finished?.stdout !== 'function') throw noAnswer('runCommand', finished);
    return over(async () => {
      const [stdout, stderr] = await Promise.all([finished.stdout(), finished.stderr?.()]);
      return { exitCode: finished.exitCode, stdout, stderr };
    }, order);
  }
  const asked = { command, ...(cwd !== undefined && { workingDirectory: cwd }), env, abortSignal: signal };
  if (typeof sandbox.spawn === 'function') {
    // As a method of it: sessions may be instances of a class.
    const process = await (sandbox as Required<ToolSandboxSession>).spawn(asked);
    if (typeof process?.wait !== 'function') throw noAnswer('spawn', process);
    return follow(process, order);
  }
  const finished = await sandbox.run(asked);
  if (typeof finished !== 'object' || finished === null) throw noAnswer('run', finished);
  return over(async () => finished, order);
}

/** One whose end is there already. */
function over(read: () => Promise<{ exitCode: unknown; stdout: unknown; stderr: unknown }>, { hear }: Order): There {
  const ended = read().then(async ({ exitCode, stdout, stderr }) => {
    for (const [stream, text] of [['stdout', stdout] as const, ['stderr', stderr] as const]) {
      if (text != null) await hear(stream, Buffer.from(String(text)));
    }
    return { exitCode, notes: [] };
  });
  return { pid: 0, ended, kill: () => {} };
}

function follow(process: SandboxCommandProcess, { hear }: Order): There {
  const pid = pidOf(process);
  const notes: string[] = [];
  const letGo = new AbortController();
  const read = (stream: 'stdout' | 'stderr') =>
    readAll(process[stream], letGo.signal, (bytes) => hear(stream, bytes)).catch((error) => {
      notes.push(`the sandbox has lost ${stream}: ${said(error)}`);
    });
  const reading = Promise.all([read('stdout'), read('stderr')]);
  const ended = (async () => {
    try {
      const told = await process.wait();
      const timer = setTimeout(() => letGo.abort(), DRAIN_MS);
      // A stream that does not even end when it is let go of is left to itself.
      const left = new Promise((resolve) => {
        letGo.signal.addEventListener('abort', () => setImmediate(resolve), { once: true });
      });
      await Promise.race([reading, left]);
      clearTimeout(timer);
      return { exitCode: told?.exitCode, notes };
    } finally {
      letGo.abort();
    }
  })();
  return {
    pid,
    ended,
    kill() {
      // What it answers makes no difference: the end is waited for, and not for ever.
      void (async () => process.kill())().catch(() => {});
    },
  };
}

/** 0 where it tells none. */
function pidOf(process: SandboxCommandProcess): number {
  try {
    const { pid } = process;
    return Number.isSafeInteger(pid) && (pid as number) > 0 ? (pid as number) : 0;
  } catch {
    return 0;
  }
}

/** Reads a stream to its end, or until it is let go of. */
async function readAll(
  stream: ReadableStream<Uint8Array> | undefined,
  letGo: AbortSignal,
  take: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  if (typeof stream?.getReader !== 'function') throw new Error('it gave no stream');
  const reader = stream.getReader();
  // Whatever it answers: it may be no stream but something like one.
  const stop = () => void (async () => reader.cancel())().catch(() => {});
  if (letGo.aborted) stop();
  letGo.addEventListener('abort', stop, { once: true });
  let turn = performance.now();
  try {
    for (let next = await reader.read(); !next.done && !letGo.aborted; next = await reader.read()) {
      const bytes: unknown = next.value;
      await take(bytes instanceof Uint8Array ? bytes : Buffer.from(String(bytes)));
      // A stream that always has more at hand leaves no time for anything else: not for its own limit either.
      if (performance.now() - turn > TURN_MS) {
        await new Promise((resolve) => setImmediate(resolve));
        turn = performance.now();
      }
    }
  } finally {
    letGo.removeEventListener('abort', stop);
  }
}

function noAnswer(member: string, answer: unknown): BashError {
  const what = answer === null ? 'null' : typeof answer;
  return new BashError('ERR_BASH_SPAWN', `the sandbox gave no answer that can be read: ${member} came to ${what}`);
}
