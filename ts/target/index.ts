import type { NativeTarget, NativeTargetOptions } from '../../native.cjs';
import { resolve } from '../core/builtins.ts';
import { type Call, listen, settled, type TargetChange, theBridge } from '../core/calls.ts';
import { checkFields, oneOf, type } from '../core/checks.ts';
import { failureOf } from '../core/listener.ts';
import { loadNative } from '../core/native.ts';
import { BashError } from '../errors.ts';
import { channels, type ObservedTarget } from '../observe/channels.ts';
import { keepThere, thereOf } from './handle.ts';
import { checkConnect, checkPath, checkPort, FORWARD, nativeAddress, REMOVE, WRITE } from './options.ts';
import { programs } from './program.ts';
import type {
  ConnectOptions,
  FileKind,
  FileStat,
  ForwardedPort,
  Target,
  TargetAddress,
  TargetEvent,
  TargetInfo,
  TargetListener,
  TargetState,
} from './types.ts';

type TargetTurn = Parameters<Target['on']>[0];

const checkTurn = oneOf('disconnected', 'reconnected', 'lost', 'closed');

function checkListener(event: unknown, listener: unknown): void {
  checkTurn(event, 'event');
  type('function')(listener, 'listener');
}

const LEASE_MS = 120_000;
const ALIVE_MS = 30_000;
const PATIENCE_MS = 30_000;

/** Connects to a machine; see `connect` of the main entry. */
export async function connectTo(to: TargetAddress & ConnectOptions): Promise<Target> {
  checkConnect(to);
  const { name, cwd, env, signal } = to;
  const begun = performance.now();
  const connected = await settled({
    begin: (way) => way.connect(nativeOptions(to)),
    kind: 'connected',
    answer: (event) => event,
    signal,
    abort: (way, id) => way.abort(id),
    target: name,
  });
  const native = new (loadNative().NativeTarget)(theBridge(), connected.target);
  const target = new ConnectedTarget(native, connected.id, connected.targetKind as Target['kind']);
  listen(connected.target, (change: TargetChange) => {
    target.tell(change);
    if (change.turn === 'closed') listen(connected.target, null);
  });
  target.tell({ turn: 'connected', reason: '', lost: [] });
  try {
    const patience = to.connectTimeoutMs ?? PATIENCE_MS;
    await Promise.race([target.begin(cwd), givenUp(target.id, patience, performance.now() - begun, signal)]);
  } catch (error) {
    const closed = target.close();
    // A program that is silent takes its time to end, which the caller has not.
    if (!signal?.aborted && (error as BashError).reason !== 'timeout') await closed;
    else closed.catch(() => {});
    throw error;
  }
  keepThere(target, { id: target.id, native, cwd: target.info.cwd, env: env && { ...env } });
  return target;
}

/** Rejects when the caller gives the connection up, or once its time is over: a program may greet and be silent. */
function givenUp(id: string, patience: number, passed: number, signal: AbortSignal | undefined): Promise<never> {
  const late = AbortSignal.timeout(Math.max(0, Math.ceil(patience - passed)));
  const over = AbortSignal.any(signal ? [late, signal] : [late]);
  return new Promise((_, reject) => {
    const end = () => {
      if (signal?.aborted) return reject(failed(id, 'ABORT_ERR', 'the connection was given up'));
      const message = `${id} cannot be reached, and nothing was started: no answer within ${patience} ms; see \`connectTimeoutMs\``;
      reject(Object.assign(failed(id, 'ERR_BASH_TARGET', message), { reason: 'timeout', stderr: '' }));
    };
    if (over.aborted) end();
    else over.addEventListener('abort', end, { once: true });
  });
}

function nativeOptions(to: TargetAddress & ConnectOptions): NativeTargetOptions {
  if (to.signal?.aborted) throw new BashError('ABORT_ERR', 'the connection was given up before it began');
  const via = thereOf(to.via);
  return {
    address: nativeAddress(to),
    ...(to.name !== undefined && { id: to.name }),
    leaseMs: to.detachMs ?? LEASE_MS,
    aliveMs: to.aliveMs ?? ALIVE_MS,
    patienceMs: to.connectTimeoutMs ?? PATIENCE_MS,
    ...(via && { via: via.native.number }),
    ...(to.hostProgram !== undefined && { installed: to.hostProgram }),
    ...programs(),
  };
}

/** A target that is connected, or was. */
class ConnectedTarget implements Target {
  readonly id: string;
  readonly kind: Target['kind'];
  readonly #native: NativeTarget;
  #cwd = '/';
  #rttMs = 0;
  /** What was told last, for a target that is closed. */
  #told = '{}';
  #closing: Promise<void> | undefined;
  readonly #listeners = new Map<TargetTurn, Set<TargetListener>>();

  constructor(native: NativeTarget, id: string, kind: Target['kind']) {
    this.#native = native;
    this.id = id;
    this.kind = kind;
  }

  /** Finds the directory of commands, and measures a round trip. */
  async begin(cwd = ''): Promise<void> {
    const directory = resolve(this.info.home, cwd);
    const start = performance.now();
    const kind = await this.stat(directory);
    this.#rttMs = performance.now() - start;
    // A link is not followed, but its list is that of the directory behind it.
    if (kind === null || (kind.kind === 'link' && (await this.#listed(directory)) === null)) {
      throw failed(this.id, 'ERR_BASH_CWD_NOT_FOUND', `Working directory does not exist: ${directory}`);
    }
    if (kind.kind !== 'link' && kind.kind !== 'directory') throw this.#notDirectory(directory);
    this.#cwd = directory;
  }

  async #listed(directory: string): Promise<object | null> {
    try {
      return await this.list(directory);
    } catch (error) {
      throw (error as { code?: string }).code === 'ENOTDIR' ? this.#notDirectory(directory) : error;
    }
  }

  #notDirectory(path: string): BashError {
    return failed(this.id, 'ERR_BASH_CWD_NOT_DIRECTORY', `Working directory is not a directory: ${path}`);
  }

  get state(): TargetState {
    return this.#native.state;
  }

  get info(): TargetInfo {
    this.#told = this.#native.info() ?? this.#told;
    return { ...JSON.parse(this.#told), cwd: this.#cwd, rttMs: this.#rttMs } as TargetInfo;
  }

  async readFile(path: string): Promise<Uint8Array | null> {
    const absolute = this.#path(path);
    return this.#asked({
      begin: () => this.#native.readFile(absolute),
      kind: 'read',
      answer: ({ bytes }) => bytes ?? null,
    });
  }

  async writeFile(path: string, data: string | Uint8Array, options: { mode?: number | undefined } = {}): Promise<void> {
    const absolute = this.#path(path);
    checkFields('writeFile', options, WRITE);
    if (typeof data !== 'string' && !(data instanceof Uint8Array)) {
      throw new BashError('ERR_BASH_INVALID_ARG', `data: ${typeof data} is not a string or a Uint8Array`);
    }
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    await this.#asked({
      begin: () => this.#native.writeFile(absolute, bytes, options.mode),
      kind: 'done',
      answer: () => undefined,
    });
  }

  async stat(path: string): Promise<FileStat | null> {
    const absolute = this.#path(path);
    return this.#answered(() => this.#native.stat(absolute));
  }

  async list(path: string): Promise<{ name: string; kind: FileKind }[] | null> {
    const absolute = this.#path(path);
    return this.#answered(() => this.#native.list(absolute));
  }

  async remove(path: string, options: { recursive?: boolean | undefined } = {}): Promise<boolean> {
    const absolute = this.#path(path);
    checkFields('remove', options, REMOVE);
    return this.#answered(() => this.#native.remove(absolute, options.recursive ?? false));
  }

  async forward(
    port: number,
    options: { host?: string | undefined; localPort?: number | undefined } = {},
  ): Promise<ForwardedPort> {
    checkPort(port);
    checkFields('forward', options, FORWARD);
    const { host = '127.0.0.1', localPort = 0 } = options;
    let opened = 0;
    const own = await this.#answered<number>(() => {
      opened = this.#native.forward(host, port, localPort);
      return opened;
    });
    const close = () => settled({ begin: () => this.#native.closePort(opened), kind: 'done', answer: () => undefined });
    return { port: own, url: `http://127.0.0.1:${own}`, close };
  }

  on(event: TargetTurn, listener: TargetListener): this {
    checkListener(event, listener);
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
    return this;
  }

  off(event: TargetTurn, listener: TargetListener): this {
    checkListener(event, listener);
    this.#listeners.get(event)?.delete(listener);
    return this;
  }

  /** Tells listeners and the channel what has happened. */
  tell({ turn, reason, downMs, lost }: Pick<TargetChange, 'turn' | 'reason' | 'downMs' | 'lost'>): void {
    const event: TargetEvent = {
      target: this.id,
      at: Date.now(),
      reason,
      downMs: downMs == null ? null : Math.round(downMs),
      lost,
    };
    if (channels.target.hasSubscribers) {
      channels.target.publish({ ...event, lost: [...lost], state: turn } satisfies ObservedTarget);
    }
    for (const listener of turn === 'connected' ? [] : [...(this.#listeners.get(turn) ?? [])]) {
      failureOf(() => listener({ ...event, lost: [...lost] })).then((failure) => {
        if (failure === undefined) return;
        process.emitWarning(`a listener of a target failed: ${failure}`, { code: 'AGENT_BASH_LISTENER' });
      });
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#end(() => this.#native.close());
    return this.#closing;
  }

  async uninstall(): Promise<void> {
    if (this.#closing) throw failed(this.id, 'ERR_BASH_CLOSED', `the target ${this.id} was closed`);
    this.#closing = this.#end(() => this.#native.uninstall());
    return this.#closing;
  }

  /** Same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #end(begin: () => number): Promise<void> {
    this.#told = this.#native.info() ?? this.#told;
    return this.#asked({ begin, kind: 'done', answer: () => undefined });
  }

  #path(path: string): string {
    checkPath(path);
    return resolve(this.#cwd, path);
  }

  #answered<T>(begin: () => number): Promise<T> {
    return this.#asked({ begin, kind: 'told', answer: ({ answer }) => JSON.parse(answer) as T });
  }

  #asked<Kind extends 'done' | 'read' | 'told', T>(call: Call<Kind, T>): Promise<T> {
    return settled({ ...call, target: this.id });
  }
}

function failed(target: string, code: BashError['code'], message: string): BashError {
  return Object.assign(new BashError(code, message), { target });
}
