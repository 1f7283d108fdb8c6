import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import {
  BashError,
  type BashErrorCode,
  type BashOptions,
  type BashResult,
  type BashTruncation,
  bash,
  type Confinement,
  type Receipt,
} from 'agent-bash';
import { onAbort } from '../core/abort.ts';
import { type Inner, innerOf } from '../core/inner.ts';
import { messageOf } from '../core/listener.ts';
import { visible } from '../core/visible.ts';
import { isSession } from './place.ts';
import { isRecord } from './schema.ts';
import type { SandboxCommandProcess, ToolSandbox, ToolSandboxSession } from './types.ts';

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

/**
 * Decides when a command in a sandbox must end, by its time limit, its silence or the caller's signal, and how long to
 * wait for that.
 */
export class Ending {
  /** The reason why the command was ended, or `null` while it runs or if it exited by itself. */
  cause: 'timed-out' | 'aborted' | null = null;
  /** The longest silence that was allowed, if the command was ended because of it. */
  silentMs: number | null = null;
  readonly #controller = new AbortController();
  readonly #graceMs: number;
  readonly #forget: (() => void) | undefined;
  #kill: () => void = () => {};
  #giveUp: () => void = () => {};
  readonly #givenUp = new Promise<null>((resolve) => {
    this.#giveUp = () => resolve(null);
  });
  #timer: NodeJS.Timeout;
  #silence: NodeJS.Timeout | undefined;
  #idleMs: number | null = null;
  /** Outputs that are being passed on. */
  #passing = 0;

  constructor(limitMs: number, graceMs: number, caller: AbortSignal | undefined) {
    this.#graceMs = graceMs;
    const abort = () => this.#end('aborted', caller?.reason);
    this.#forget = caller && onAbort(caller, abort);
    this.#timer = setTimeout(() => {
      this.#end('timed-out', new DOMException(`The time limit of ${limitMs} ms was reached.`, 'TimeoutError'));
    }, limitMs);
    if (caller?.aborted) abort();
  }

  /** Tells the sandbox that the command must end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Registers another way to end the command. Calls it at once if the command must already end. */
  onEnd(kill: () => void): void {
    this.#kill = kill;
    if (this.cause !== null) kill();
  }

  /** Counts the time without output from now on. */
  countSilence(idleMs: number): void {
    this.#idleMs = idleMs;
    this.#countAgain();
  }

  /** Records output, which is being passed on. A listener that takes its time holds the output back. */
  async onOutput(passed: Promise<void>): Promise<void> {
    this.#passing += 1;
    clearTimeout(this.#silence);
    try {
      await passed;
    } finally {
      this.#passing -= 1;
      this.#countAgain();
    }
  }

  #countAgain(): void {
    const idleMs = this.#idleMs;
    if (idleMs === null || this.cause !== null || this.#passing > 0) return;
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.silentMs = idleMs;
      this.#end('timed-out', new DOMException(`There was no output for ${idleMs} ms.`, 'TimeoutError'));
    }, idleMs);
  }

  /**
   * Resolves with the promise's value, or with `null` if that takes too long after the command was asked to end. Always
   * settles.
   */
  wait<T>(promise: Promise<T>): Promise<T | null> {
    return Promise.race([promise, this.#givenUp]);
  }

  /** Releases the timer and the listener once the command has exited. */
  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    this.#idleMs = null;
    this.#forget?.();
  }

  #end(cause: 'timed-out' | 'aborted', reason: unknown): void {
    if (this.cause !== null) return;
    this.cause = cause;
    this.close();
    this.#timer = setTimeout(this.#giveUp, this.#graceMs + innerOf(bash).facts().run.hardBoundMs);
    this.#controller.abort(reason);
    this.#kill();
  }
}

/**
 * Returns how a sandbox reports that it confined a command. `null` if it reports nothing. A local sandbox of this
 * package has this field. The answer of another sandbox may be anything.
 */
export function confinementIn(given: unknown): Confinement | null {
  if (!isRecord(given)) return null;
  try {
    const copy: unknown = structuredClone(given);
    return isConfinement(copy) ? copy : null;
  } catch {
    return null;
  }
}

function isConfinement(given: unknown): given is Confinement {
  const { profile, held, missing, denied, deniedTotal, tmp } = given as Record<string, unknown>;
  return (
    (profile === 'workspace' || profile === 'read-only') &&
    Array.isArray(held) &&
    Array.isArray(missing) &&
    missing.every(isRecord) &&
    Array.isArray(denied) &&
    denied.every(isDenial) &&
    Number.isSafeInteger(deniedTotal) &&
    (tmp === null || typeof tmp === 'string')
  );
}

function isDenial(given: unknown): boolean {
  if (!isRecord(given)) return false;
  const { kind, target, program, count, grant } = given;
  const named = [kind, target, program].every((text) => typeof text === 'string');
  return named && Number.isSafeInteger(count) && (grant === null || isRecord(grant));
}

/** The fields of a result about the changes of a command. */
type Recorded = Pick<BashResult, 'runId' | 'receipt' | 'undo'>;

/**
 * Returns a sandbox's record of the changes of a command. A local sandbox of this package has these fields. The answer
 * of another sandbox may be anything, and its run has an id of its own, which no `undo` knows.
 */
export function recordIn(given: unknown): Recorded {
  const nothing = { runId: randomUUID(), receipt: null, undo: null };
  if (!isRecord(given)) return nothing;
  try {
    const { runId, receipt, undo } = structuredClone({
      runId: given.runId,
      receipt: given.receipt ?? null,
      undo: given.undo ?? null,
    });
    if (typeof runId !== 'string' || runId === '') return nothing;
    return { runId, receipt: isReceipt(receipt) ? receipt : null, undo: isCover(undo) ? undo : null };
  } catch {
    return nothing;
  }
}

const STATES = ['known', 'partial', 'unknown'];
const CHANGES = ['created', 'modified', 'deleted'];

function isReceipt(given: unknown): given is Receipt {
  if (!isRecord(given)) return false;
  const { state, why, renamed, counts, directories, ports, git } = given;
  return (
    STATES.includes(state as string) &&
    (why === null || typeof why === 'string') &&
    CHANGES.every((name) => listOf(given[name], ({ path }) => typeof path === 'string')) &&
    listOf(renamed, ({ from, to }) => typeof from === 'string' && typeof to === 'string') &&
    isRecord(counts) &&
    [...CHANGES, 'renamed'].every((name) => Number.isSafeInteger(counts[name])) &&
    isTexts(directories) &&
    isRecord(ports) &&
    [ports.opened, ports.closed].every((list) => listOf(list, ({ port }) => Number.isSafeInteger(port))) &&
    listOf(git, isGitChange)
  );
}

function isGitChange({ repository, head, branch, state }: Record<string, unknown>): boolean {
  const isPair = (pair: unknown) =>
    Array.isArray(pair) && pair.length === 2 && pair.every((value) => value === null || typeof value === 'string');
  return (
    typeof repository === 'string' && isPair(head) && isPair(branch) && (state === null || typeof state === 'string')
  );
}

function isCover(given: unknown): given is NonNullable<BashResult['undo']> {
  if (!isRecord(given)) return false;
  const { covers, notCovered, bytes } = given;
  return (covers === 'all' || covers === 'part') && isTexts(notCovered) && Number.isFinite(bytes);
}

function isTexts(given: unknown): boolean {
  return Array.isArray(given) && given.every((text) => typeof text === 'string');
}

function listOf(given: unknown, fits: (item: Record<string, unknown>) => boolean): boolean {
  return Array.isArray(given) && given.every((item) => isRecord(item) && fits(item));
}

/** Bytes of a stream kept in memory to be written to a file, whatever `spill.maxBytes` allows. */
const MOST_HELD_BYTES = 64 * 1024 * 1024;
/** Bytes of each stream that a snapshot shows, as for a local command. */
const SNAPSHOT_BYTES = 8 * 1024;

type Stream = 'stdout' | 'stderr';
type Text = InstanceType<Inner['NativeText']>;

/** A stream that is to be written to a file. */
export interface Whole {
  stream: Stream;
  text: string;
  /** The reason why the stream is incomplete, or `null`. */
  cut: string | null;
}

/** The path of a stream's file, or the reason why it could not be written. */
export interface Written {
  path: string | null;
  error: string | null;
}

/**
 * The output of one command, from bytes to the text of its result. The core cleans, cuts and counts it, as it does for
 * local commands.
 */
export class Output {
  readonly #texts: Record<Stream, Text>;
  readonly #most: number;
  readonly #listener: BashOptions['onOutput'];

  /** Throws `ERR_BASH_INVALID_ARG` for limits out of range. */
  constructor({ truncate, sanitize, spill, onOutput }: BashOptions) {
    const { NativeText } = innerOf(bash);
    const { maxBytes = MOST_HELD_BYTES } = typeof spill === 'object' ? spill : {};
    this.#most = Math.min(maxBytes, MOST_HELD_BYTES);
    this.#listener = onOutput;
    try {
      const options = JSON.stringify({ truncate, sanitize });
      const make = (stderr: boolean) => new NativeText(stderr, options, this.#most);
      this.#texts = { stdout: make(false), stderr: make(true) };
    } catch (error) {
      throw new BashError('ERR_BASH_INVALID_ARG', messageOf(error));
    }
  }

  /** Takes the next bytes. A returned promise must settle before the next call. */
  async push(stream: Stream, bytes: Uint8Array): Promise<void> {
    await this.#notify(stream, this.#texts[stream].push(bytes));
  }

  /** Ends both streams. */
  async end(): Promise<void> {
    for (const stream of ['stdout', 'stderr'] as const) await this.#notify(stream, this.#texts[stream].end());
  }

  /** Returns the last part of each stream, including an unfinished line. */
  tail(): Record<Stream, string> {
    const { stdout, stderr } = this.#texts;
    return { stdout: stdout.tail(SNAPSHOT_BYTES), stderr: stderr.tail(SNAPSHOT_BYTES) };
  }

  /** Returns the streams that exceed their limits. Valid after `end()`. */
  whole(): Whole[] {
    return (['stdout', 'stderr'] as const).flatMap((stream) => {
      const text = this.#texts[stream].whole();
      const cut = this.#texts[stream].isBeginning() ? `it holds the first ${this.#most} bytes` : null;
      return text === null ? [] : [{ stream, text, cut }];
    });
  }

  /** Returns the fields of the result. Nothing may be pushed afterwards. */
  finish(written: Partial<Record<Stream, Written>>): Record<Stream, string> & {
    truncation: BashTruncation;
    notes: string[];
  } {
    const { NativeText } = innerOf(bash);
    const [stdout, stderr] = (['stdout', 'stderr'] as const).map((stream) => {
      const { path, error } = written[stream] ?? {};
      return this.#texts[stream].finish(path, error);
    });
    const note = NativeText.replacedNote((stdout?.replaced ?? 0) + (stderr?.replaced ?? 0));
    return {
      stdout: stdout?.text ?? '',
      stderr: stderr?.text ?? '',
      truncation: { stdout: stdout?.truncation ?? null, stderr: stderr?.truncation ?? null },
      notes: note === null ? [] : [note],
    };
  }

  async #notify(stream: Stream, text: string): Promise<void> {
    if (text !== '') await this.#listener?.({ stream, text });
  }
}

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
