import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { BackgroundRegistry } from 'agent-bash';
import { expect } from 'vitest';
import { finished, folder, type Host, type HostOptions, host, until } from '../support/index.ts';

/** Any message of a host. `messages.json` has an example of each. */
// biome-ignore lint/suspicious/noExplicitAny: the tests look at parts of messages
export type Message = any;

/** Hosts that listen in a directory of their own. */
export class Hosts {
  /** `XDG_RUNTIME_DIR` */
  readonly runtime = folder();
  readonly directory = join(this.runtime, 'agent-bash/hosts');

  /** Starts a host; see `host`. */
  start(source: string, { env = {}, ...options }: HostOptions = {}): Host {
    return host(source, { env: { XDG_RUNTIME_DIR: this.runtime, ...env }, ...options });
  }

  socket({ pid }: { pid: number }): string {
    return join(this.directory, `${pid}.sock`);
  }

  /** The names of the sockets. A host that ends at once may make none, nor their directory. */
  names(): string[] {
    return existsSync(this.directory) ? readdirSync(this.directory).sort() : [];
  }

  /** Waits until a host listens. */
  async listens(host: Host): Promise<void> {
    await until(() => existsSync(this.socket(host)), 'the host listens');
  }

  /** Connects to a host that runs a command, and exchanges the first lines. */
  async client(host: Host, control = false): Promise<Client> {
    await this.listens(host);
    const client = new Client(this.socket(host));
    await client.greet(control);
    return client;
  }
}

/** Ends the tasks of a directory, which outlive their hosts. */
export async function endTasks(dir: string): Promise<void> {
  const registry = new BackgroundRegistry({ dir });
  await Promise.all(registry.list().map(({ id }) => registry.kill(id)));
  await registry.close();
}

/** The sockets of a host, those of its clients included. Linux knows them by a name from before the host was heard. */
export function socketsOf({ pid }: Host): { listens: boolean; inode: string }[] {
  const name = new RegExp(`/${pid}-\\d+\\.new$`);
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
  return lines
    .filter((line) => name.test(line))
    .map((line) => {
      const [, , , , , state, inode = ''] = line.split(/\s+/);
      return { listens: state === '01', inode };
    });
}

/** A client of a host. */
export class Client {
  readonly socket: Socket;
  /** All messages, in their order. */
  readonly messages: Message[] = [];
  closed = false;
  #rest = '';
  #last = 0;

  constructor(path: string) {
    this.socket = connect(path).setEncoding('utf8');
    this.socket.on('data', (text) => this.#read(`${text}`));
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.closed = true;
    });
    finished(() => {
      this.socket.destroy();
    });
  }

  #read(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (Buffer.byteLength(line) > 256 * 1024) throw new Error('a line of more than 256 KiB');
      this.messages.push(JSON.parse(line));
    }
  }

  send(message: object): void {
    this.socket.write(`${JSON.stringify(message)}\n`);
  }

  /** Exchanges the first lines. */
  async greet(control = false): Promise<void> {
    this.send(control ? { hello: 1, control } : { hello: 1 });
    await this.message(({ hello }) => hello);
  }

  /** Waits for a message of a kind, and returns what `pick` makes of it. */
  message<T>(pick: (message: Message) => T, bound?: number): Promise<NonNullable<T>> {
    const found = () => {
      for (const message of this.messages) {
        const picked = pick(message);
        if (picked) return picked;
      }
      return undefined;
    };
    const what = () => `a message; ${this.closed ? 'closed' : 'open'}, ${JSON.stringify(this.messages).slice(-2000)}`;
    return until(found, pick.toString(), bound).catch((error) => {
      throw new Error(`${(error as Error).message}: ${what()}`);
    }) as Promise<NonNullable<T>>;
  }

  /** Sends a request and returns its answer. */
  async request(request: object): Promise<Message> {
    const id = ++this.#last;
    this.send({ id, ...request });
    return await this.message((message) => message.re === id && message);
  }

  /** Watches the host, and waits for the first state: later runs keep what they write. */
  async watch(): Promise<void> {
    await this.request({ do: 'watch' });
    await this.message(({ state }) => state);
  }

  /** Watches the host, and returns its only run once that has started. */
  async only(): Promise<Message> {
    await this.watch();
    return await this.run((run) => run.pid);
  }

  /** Follows a run. */
  async follow(run: string): Promise<void> {
    expect(await this.request({ do: 'follow', run })).toMatchObject({ ok: true });
  }

  /** Waits until everything of a run that is followed has come. */
  async followed(key: string): Promise<void> {
    await until(() => this.outputs(key).at(-1)?.end, 'the end of the output');
  }

  /** Waits until the host has closed the connection. Returns the reason, if it gave one. */
  async reason(bound?: number): Promise<Message> {
    await until(() => this.closed, 'the host closes', bound);
    return this.messages.find(({ error, re }) => error && re === undefined)?.error;
  }

  /** The runs that go on, as the host reported them. */
  runs(): Message[] {
    const runs = new Map<string, Message>();
    for (const { state, change } of this.messages) {
      if (state) runs.clear();
      for (const run of state?.runs ?? change?.runs ?? []) runs.set(run.key, run);
      for (const { key } of change?.ended ?? []) runs.delete(key);
    }
    return [...runs.values()];
  }

  /** Waits for a run. */
  async run(is: (run: Message) => unknown): Promise<Message> {
    return await until(() => this.runs().find(is), is.toString());
  }

  /** Waits for the end of a run. */
  end(key: string): Promise<Message> {
    return this.message(({ change }) => change?.ended.find((end: Message) => end.key === key));
  }

  /** The outputs of a run. */
  outputs(key: string): Message[] {
    return this.messages.flatMap(({ output }) => (output?.run === key ? [output] : []));
  }

  /** The text of a run so far. */
  text(key: string): string {
    return this.outputs(key)
      .map(({ text }) => text)
      .join('');
  }
}

/** A command that runs until its host ends. */
export const IDLE = `const idle = bash('echo begun; exec sleep 1000'); idle.catch(() => {});`;

/** A terminal that changes its size at SIGUSR1. */
export const TERMINAL = `
  import { PtySession } from 'agent-bash';
  const terminal = new PtySession({ cols: 40, rows: 5 });
  terminal.start('exec sleep 1000').catch(() => {});
  process.on('SIGUSR1', () => terminal.resize(50, 9));
  setInterval(() => {}, 1e6);`;
