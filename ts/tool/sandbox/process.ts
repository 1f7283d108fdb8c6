import { BashError, type BashErrorCode, bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { messageOf } from '../../core/listener.ts';
import { visible } from '../../core/visible.ts';
import type { SandboxCommandProcess, ToolSandbox, ToolSandboxSession } from '../types.ts';
import { isSession } from './options.ts';

/** The part of a sandbox's message that is read, and the part that goes into a note, in UTF-16 units. */
const READ_CHARS = 4_000;
const NOTE_CHARS = 300;

/** Returns an error message of a sandbox as one short line without control characters. The message is untrusted. */
export function describeError(words: unknown): string {
  const line = visible(messageOf(words).slice(0, READ_CHARS)).replace(/\s+/g, ' ').trim();
  return line.length > NOTE_CHARS ? `${line.slice(0, NOTE_CHARS - 1).replace(/[\ud800-\udbff]$/, '')}…` : line;
}

/** Returns an error of ours unchanged. Wraps any other, with `ERR_BASH_SPAWN` unless it has a code of ours. */
export function notStarted(error: unknown): BashError {
  if (error instanceof BashError) return error;
  const { code } = Object(error) as { code?: unknown };
  const ours = typeof code === 'string' && /^ERR_BASH_[A-Z_]{1,40}$/.test(code);
  return new BashError(ours ? (code as BashErrorCode) : 'ERR_BASH_SPAWN', describeError(error));
}

/** Time one stream is read before other work gets its turn, in ms. */
const TURN_MS = 10;

/** A command, as it is passed to a sandbox. */
export interface SandboxCommand {
  command: string;
  cwd: string | undefined;
  env: Record<string, string>;
  signal: AbortSignal;
  /** Receives the output. */
  onOutput(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void>;
}

/** The exit of a command, as its sandbox reports it. */
export interface SandboxExit {
  exitCode: unknown;
  /** A local sandbox reports how it confined the command. */
  confinement?: unknown;
  /** The whole exit, in which a local sandbox reports the command's changes. */
  record?: unknown;
  notes: string[];
}

/** A command that runs in a sandbox. */
export interface SandboxProcess {
  /** 0 if the sandbox does not report it. */
  pid: number;
  /** Whether the output arrives while the command runs. */
  streams: boolean;
  /** Resolves when the sandbox reports the exit. Rejects if the sandbox loses the command. */
  ended: Promise<SandboxExit>;
  /** Ends the command. The sandbox also sees the signal. */
  kill(): void;
}

/**
 * Starts a command in a sandbox. Rejects if the sandbox reports that nothing could be run, and with `ERR_BASH_SPAWN` if
 * its answer has the wrong shape. A `runCommand` sandbox reports nothing between the request and the exit.
 */
export async function startInSandbox(sandbox: ToolSandbox, order: SandboxCommand): Promise<SandboxProcess> {
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
      const { exitCode, confinement } = finished;
      return { exitCode, confinement, record: finished, stdout, stderr };
    }, order);
  }
  const asked = { command, ...(cwd !== undefined && { workingDirectory: cwd }), env, abortSignal: signal };
  if (typeof sandbox.spawn === 'function') {
    // Called as a method: a session may be an instance of a class.
    const process = await (sandbox as Required<ToolSandboxSession>).spawn(asked);
    if (typeof process?.wait !== 'function') throw noAnswer('spawn', process);
    return follow(process, order);
  }
  const finished = await sandbox.run(asked);
  if (typeof finished !== 'object' || finished === null) throw noAnswer('run', finished);
  return over(async () => ({ ...finished, record: finished }), order);
}

/** The answer of a sandbox once a command has ended, with all its output. */
interface SandboxAnswer {
  exitCode: unknown;
  confinement?: unknown;
  record: unknown;
  stdout: unknown;
  stderr: unknown;
}

/** A command that has already exited. */
function over(read: () => Promise<SandboxAnswer>, { onOutput }: SandboxCommand): SandboxProcess {
  const ended = read().then(async ({ exitCode, confinement, record, stdout, stderr }) => {
    for (const [stream, text] of [['stdout', stdout] as const, ['stderr', stderr] as const]) {
      if (text != null) await onOutput(stream, Buffer.from(String(text)));
    }
    return { exitCode, confinement, record, notes: [] };
  });
  return { pid: 0, streams: false, ended, kill: () => {} };
}

function follow(process: SandboxCommandProcess, { onOutput }: SandboxCommand): SandboxProcess {
  const pid = pidOf(process);
  const notes: string[] = [];
  const letGo = new AbortController();
  const read = (stream: 'stdout' | 'stderr') =>
    readAll(process[stream], letGo.signal, (bytes) => onOutput(stream, bytes)).catch((error) => {
      notes.push(`the sandbox has lost ${stream}: ${describeError(error)}`);
    });
  const reading = Promise.all([read('stdout'), read('stderr')]);
  const ended = (async () => {
    try {
      const exit = await process.wait();
      // A process that the command left running may hold its streams.
      const timer = setTimeout(() => letGo.abort(), innerOf(bash).facts().supervise.drainWholeMs);
      // A stream that does not end even after it is cancelled is abandoned.
      const left = new Promise((resolve) => {
        letGo.signal.addEventListener('abort', () => setImmediate(resolve), { once: true });
      });
      await Promise.race([reading, left]);
      clearTimeout(timer);
      return { exitCode: exit?.exitCode, confinement: exit?.confinement, record: exit, notes };
    } finally {
      letGo.abort();
    }
  })();
  return {
    pid,
    streams: true,
    ended,
    kill() {
      // The answer does not matter: the exit is awaited in any case, within a bound.
      void (async () => process.kill())().catch(() => {});
    },
  };
}

/** Returns the pid, or 0 if the sandbox reports none. */
function pidOf(process: SandboxCommandProcess): number {
  try {
    const { pid } = process;
    return Number.isSafeInteger(pid) && (pid as number) > 0 ? (pid as number) : 0;
  } catch {
    return 0;
  }
}

/** Reads a stream until it ends or is cancelled. */
async function readAll(
  stream: ReadableStream<Uint8Array> | undefined,
  letGo: AbortSignal,
  take: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  if (typeof stream?.getReader !== 'function') throw new Error('it gave no stream');
  const reader = stream.getReader();
  // Errors are ignored: the object may only resemble a stream.
  const stop = () => void (async () => reader.cancel())().catch(() => {});
  if (letGo.aborted) stop();
  letGo.addEventListener('abort', stop, { once: true });
  let turn = performance.now();
  try {
    for (let next = await reader.read(); !next.done && !letGo.aborted; next = await reader.read()) {
      const bytes: unknown = next.value;
      await take(bytes instanceof Uint8Array ? bytes : Buffer.from(String(bytes)));
      // A stream that always has more data would leave no time for other work, not even for its own time limit.
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
