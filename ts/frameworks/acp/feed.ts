import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExitStatus } from './terminal.ts';

/** A context by which an agent tells its client (v2), as far as it is used. */
export interface Listener {
  notify(method: string, params: object): Promise<void>;
}

/** What a client is told of a terminal before its output. */
export interface Facts {
  command: string;
  /** Absolute. */
  cwd: string;
  size?: { cols: number; rows: number };
}

/** Least time between two chunks, in ms. The last one does not wait: with it, a second has at most 20. */
const CHUNK_MS = 53;
/** Text that waits to be sent before its source is held back, in UTF-16 units. */
const HELD = 1024 * 1024;

/** Tells a client of one terminal, in this order: what runs, its output, its exit, and nothing after it. */
export class Feed {
  readonly terminalId = randomUUID();
  /** Resolves once the exit is told, or nothing more will be. */
  readonly told: Promise<void>;
  readonly #client: Listener;
  readonly #sessionId: string;
  readonly #ending = new AbortController();
  #onTold: () => void = () => {};
  #last: Promise<void> = Promise.resolve();
  #text = '';
  #next = 0;
  #sending: Promise<void> | undefined;
  #held: (() => void)[] = [];
  #over = false;

  constructor(client: Listener, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
    this.told = new Promise((resolve) => {
      this.#onTold = resolve;
    });
  }

  /** Tells what runs. */
  begin(facts: Facts): void {
    void this.#tell({ sessionUpdate: 'terminal_update', ...facts, capabilities: { cancel: {} } });
  }

  /** Tells of output, in whole characters. A returned promise holds its source back. */
  push(text: string): Promise<void> | undefined {
    if (this.#over) return undefined;
    this.#text += text;
    this.#sending ??= this.#send();
    if (this.#text.length <= HELD) return undefined;
    return new Promise((resolve) => this.#held.push(resolve));
  }

  /** Tells the exit, after all output. */
  async end(exitStatus: ExitStatus): Promise<void> {
    this.#ending.abort();
    await this.#sending;
    await this.#tell({ sessionUpdate: 'terminal_update', exitStatus, capabilities: null });
    this.stop();
  }

  /** Tells nothing more, and holds nothing back. */
  stop(): void {
    this.#over = true;
    this.#take();
    this.#onTold();
  }

  async #send(): Promise<void> {
    while (this.#text !== '') {
      const early = this.#next - performance.now();
      if (early > 0) await pause(early, undefined, { signal: this.#ending.signal }).catch(() => {});
      const data = Buffer.from(this.#take()).toString('base64');
      this.#next = performance.now() + CHUNK_MS;
      await this.#tell({ sessionUpdate: 'terminal_output_chunk', data });
    }
    this.#sending = undefined;
  }

  #take(): string {
    const text = this.#text;
    this.#text = '';
    for (const resume of this.#held.splice(0)) resume();
    return text;
  }

  /** Sends an update after those before it. One that the client does not take is dropped. */
  #tell(update: object): Promise<void> {
    const params = { sessionId: this.#sessionId, update: { terminalId: this.terminalId, ...update } };
    const notify = async () => (this.#over ? undefined : this.#client.notify('session/update', params));
    this.#last = this.#last.then(notify).catch(() => {});
    return this.#last;
  }
}
