import { connect, type Socket } from 'node:net';
import { Lines } from './lines.ts';
import { type HostHello, type HostMessage, type HostRequest, LINE_BYTES, PROTOCOL } from './protocol.ts';
import { readMessage } from './read.ts';

/** Time in ms that a host may take for its hello, and for each answer. */
const ANSWER_MS = 10_000;

/** A request that a host refused or did not answer. */
export class HostError extends Error {
  /** A code of the host, such as `'gone'`; `'unreachable'` if the host does not answer or the connection failed. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

interface Waiter {
  resolve(): void;
  reject(error: HostError): void;
  timer: NodeJS.Timeout;
}

/** Receives the messages of a host other than answers to requests. */
export interface HostListener {
  message(message: HostMessage): void;
  /** Receives the time in ms that it took to process the bytes of one read. */
  read?(ms: number): void;
  /** Called once. `error` is `null` after `close()`, and if the host closed the connection. */
  closed(error: Error | null): void;
}

/** One connection to the socket of a host. */
export class HostConnection {
  /** The hello of the host. Rejects with `HostError` if the host cannot be reached or speaks another protocol. */
  readonly hello: Promise<HostHello>;
  /** The hello of the host, once it was received. */
  host: HostHello | null = null;
  readonly #socket: Socket;
  readonly #listener: HostListener;
  readonly #lines = new Lines(LINE_BYTES * 2);
  readonly #waiting = new Map<number, Waiter>();
  #greet!: { resolve(hello: HostHello): void; reject(error: HostError): void };
  #last = 0;
  #error: Error | null = null;

  constructor(path: string, control: boolean, listener: HostListener) {
    this.#listener = listener;
    this.hello = new Promise((resolve, reject) => {
      this.#greet = { resolve, reject };
    });
    // Nothing may await the hello of a connection that is closed early.
    this.hello.catch(() => {});
    const slow = setTimeout(() => this.#fail(new HostError('unreachable', 'the host does not answer')), ANSWER_MS);
    this.hello.finally(() => clearTimeout(slow)).catch(() => {});
    this.#socket = connect(path)
      .on('connect', () => this.#send(control ? { hello: PROTOCOL, control } : { hello: PROTOCOL }))
      .on('data', (bytes) => this.#read(bytes))
      .on('error', (error) => this.#fail(error))
      .on('close', () => this.#closed());
  }

  /** Sends a request. Resolves when the host has accepted it, and rejects with `HostError`. */
  request(request: HostRequest): Promise<void> {
    const id = ++this.#last;
    return new Promise<void>((resolve, reject) => {
      const late = () => this.#settle(id)?.reject(new HostError('busy', 'the host has not answered in time'));
      this.#waiting.set(id, { resolve, reject, timer: setTimeout(late, ANSWER_MS) });
      if (this.#socket.destroyed) this.#dropWaiters();
      else this.#send({ id, ...request });
    });
  }

  /** Stops reading. The host then drops output and counts the dropped bytes. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Stops reading for `ms` milliseconds. */
  rest(ms: number): void {
    this.pause();
    setTimeout(() => this.resume(), ms);
  }

  close(): void {
    this.#socket.destroy();
  }

  #send(message: object): void {
    this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  #read(bytes: Uint8Array): void {
    const began = performance.now();
    try {
      for (const line of this.#lines.add(bytes)) this.#take(messageOf(line));
      this.#listener.read?.(performance.now() - began);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #take(message: HostMessage): void {
    if ('hello' in message) this.#greeted(message.hello);
    else if ('re' in message) this.#answered(message);
    else if ('error' in message) throw new HostError(message.error.code, message.error.message);
    else this.#listener.message(message);
  }

  #greeted(host: HostHello): void {
    if (host.protocol !== PROTOCOL) {
      throw new HostError('protocol', `the host speaks version ${host.protocol}, not ${PROTOCOL}`);
    }
    this.host = host;
    this.#greet.resolve(host);
  }

  #answered(message: Extract<HostMessage, { re: number }>): void {
    const waiter = this.#settle(message.re);
    if ('ok' in message) waiter?.resolve();
    else waiter?.reject(new HostError(message.error.code, message.error.message));
  }

  #settle(id: number): Waiter | undefined {
    const waiter = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiter?.timer);
    return waiter;
  }

  #fail(error: Error): void {
    this.#error ??= error;
    this.#socket.destroy();
  }

  #closed(): void {
    const { message = 'the host has closed the connection' } = this.#error ?? {};
    const error = this.#error instanceof HostError ? this.#error : new HostError('unreachable', message);
    this.#greet.reject(error);
    this.#dropWaiters();
    this.#listener.closed(this.#error);
  }

  #dropWaiters(): void {
    for (const id of [...this.#waiting.keys()]) {
      this.#settle(id)?.reject(new HostError('unreachable', 'the host is not there any more'));
    }
  }
}

function messageOf(line: string): HostMessage {
  const message = readMessage(line);
  if (message === null) throw new HostError('protocol', 'the host sent a line that is not a message');
  return message;
}
