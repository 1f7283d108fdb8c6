import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { type BashOptions, bash } from 'agent-bash';
import { definedOnly } from '../../core/defined.ts';
import { innerOf } from '../../core/inner.ts';
import { decoder, type Input } from '../../core/streams.ts';
import { OWNER } from '../../core/world.ts';
import { failure } from '../../sandbox/errors.ts';
import { type Ended, guarded, type Listener } from '../../sandbox/output.ts';
import { signalGroupHere } from '../../sandbox/processes.ts';
import { ByteStream } from '../../sandbox/session/bytes.ts';
import { type Started, start } from '../../sandbox/start.ts';
import { Lifetime } from '../shared/lifetime.ts';
import { writableTo } from '../shared/writable.ts';

/** What the SDK starts. */
export interface Launch {
  command: string;
  args: string[];
  cwd?: string | undefined;
  env: Record<string, string | undefined>;
  signal: AbortSignal;
}

/** The program replaces the shell. If that fails, standard error ends with the first parameter. */
const REPLACE = 'shopt -s execfail; exec -- "${@:2}"; code=$?; printf %s "$1" >&2; exit "$code"';
/** The exit code of bash for a program that does not exist. */
const NOT_FOUND = 127;
/** Variables that a command always has. */
const LASTING = ['AGENT_BASH_ID', 'PWD', 'SHLVL', '_'];
/** UTF-16 units of standard error that the reason of a failed start is looked for in. */
const REASON_LENGTH = 1_000;

/** A running Claude Code, as the SDK expects it. */
export class ClaudeProcess extends EventEmitter {
  readonly stdin: Writable;
  readonly stdout: Readable;
  killed = false;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  readonly #out = new ByteStream();
  readonly #token = randomUUID();
  #started: Started | undefined;
  /** `null` before the start. */
  #pid: number | null = null;
  /** Whether the shell has exited. Its pid may soon be that of another process. */
  #hasExited = false;
  #isOver = false;
  #begin: (input: Input) => void = () => {};
  #stderr = '';

  /** `onEnd` is called before `exit` is emitted. */
  constructor(
    launch: Launch,
    base: Omit<BashOptions, 'target'>,
    onStderr: Listener | undefined,
    onEnd: (end: Ended) => void,
  ) {
    super();
    this.stdout = Readable.fromWeb(this.#out.stream as ReadableStream);
    this.stdin = writing(
      new Promise((begun) => {
        this.#begin = begun;
      }),
    );
    this.#run(launch, base, guarded(onStderr)).then(
      (end) => {
        this.#close(end);
        onEnd(end);
        this.emit('exit', this.exitCode, this.signalCode);
      },
      (error: unknown) => {
        this.#close(undefined);
        this.emit('error', error);
      },
    );
  }

  /**
   * Signals the process group, and ends the whole tree with `'SIGKILL'` or before the start. Returns whether it ran.
   *
   * @default 'SIGTERM'
   */
  kill(signal: NodeJS.Signals = 'SIGTERM'): boolean {
    if (this.#isOver) return false;
    if (this.#pid !== null && !this.#hasExited) signalGroupHere(this.#pid, signal);
    this.killed = true;
    if (this.#pid === null || signal === 'SIGKILL') this.#started?.abort();
    return true;
  }

  /** Runs to the end. Rejects if nothing could be started. */
  async #run(launch: Launch, base: Omit<BashOptions, 'target'>, tell: Listener): Promise<Ended> {
    const { command, args, env, signal } = launch;
    const cwd = resolve(launch.cwd ?? base.cwd ?? '.');
    const lifetime = new Lifetime(cwd, base, false);
    try {
      const whole: Omit<BashOptions, 'target'> = {
        env: { ...(await unattended()), ...definedOnly(env) },
        inheritEnv: 'none',
        safety: 'off',
      };
      const { confine } = innerOf(bash).defaults;
      const options = { confine, ...base, ...whole, cwd, [OWNER]: lifetime.owner };
      const streams = { bytes: true, fed: true, started: this.#begun.bind(this), over: () => this.#exited() };
      const order = { command: REPLACE, args: [this.#token, command, ...args], signal, streams };
      const started = lifetime.add(start(options, { ...order, onOutput: this.#listener(tell) }));
      this.#started = started;
      if (this.killed) started.abort();
      const end = await started.ended;
      if (this.#pid === null) throw failure('ABORT_ERR', 'Claude Code was ended before it had been started');
      if (this.#stderr.endsWith(this.#token)) throw this.#notStarted(command, end);
      const left = lifetime.end();
      // What cannot be ended hides no end of Claude Code itself.
      await (this.killed || signal.aborted ? left : left.catch(() => {}));
      return end;
    } finally {
      lifetime.owner.end();
    }
  }

  #begun(pid: number, input: Input): void {
    this.#pid = pid;
    this.#begin(input);
  }

  #exited(): void {
    this.#hasExited = true;
    this.#out.waited();
  }

  #listener(tell: Listener): Listener {
    const decoded = decoder();
    return (chunk) => {
      if (chunk.stream === 'stdout') return this.#out.push(Buffer.from(chunk.text, 'latin1'));
      const { stream, text } = decoded(chunk);
      this.#stderr = (this.#stderr + text).slice(-REASON_LENGTH);
      return tell({ stream, text: text.replace(this.#token, '') });
    };
  }

  #notStarted(command: string, { exitCode }: Ended): Error {
    const error = failure(exitCode === NOT_FOUND ? 'ENOENT' : 'EACCES', this.#stderr.replace(this.#token, '').trim());
    return Object.assign(error, { syscall: `spawn ${command}`, path: command });
  }

  #close(end: Ended | undefined): void {
    this.#isOver = true;
    this.#out.close();
    this.stdin.destroy();
    if (end === undefined) return;
    if (end.signal === null) this.exitCode = end.exitCode;
    else this.signalCode = end.signal as NodeJS.Signals;
  }
}

/** Writes to an input that is there once the process runs. */
function writing(input: Promise<Input>): Writable {
  const write = async (chunk: Uint8Array) => {
    const isRead = await (await input).write(chunk);
    if (!isRead) throw failure('EPIPE', 'Claude Code does not read its input any more');
  };
  return writableTo(write, async () => (await input).end());
}

let names: Promise<string[]> | undefined;

/** Returns the variables that commands have unasked, each removed. A short command names them, once. */
async function unattended(): Promise<Record<string, null>> {
  names ??= bash('compgen -e', { cwd: '/', inheritEnv: 'none', confine: 'off', safety: 'off', ledger: false }).then(
    ({ stdout }) =>
      stdout
        .trim()
        .split('\n')
        .filter((name) => !LASTING.includes(name)),
  );
  names.catch(() => {
    names = undefined;
  });
  return Object.fromEntries((await names).map((name) => [name, null]));
}
