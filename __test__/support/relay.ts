import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ConnectOptions, connect, type Target, type TargetAddress } from 'agent-bash';
import { finished } from './finished.ts';
import { folder } from './folder.ts';
import { sshHost } from './ssh.ts';

const PROGRAM = fileURLToPath(new URL('relay.mjs', import.meta.url));

/**
 * What goes wrong with a connection.
 *
 * - `cut`: both sides see the end.
 * - `kill`: the client is killed. The program sees the end of its input, and its output is taken, as podman does it.
 * - `hold`: the client is killed. The program sees nothing: its pipes stay open, and its output is not taken.
 * - `freeze`: no byte passes for `ms`, then all that have waited do.
 * - `trickle`: for `ms`, bytes pass in pieces of 1 to 64, up to 3 ms apart.
 * - `half-up`: the program sees the end of its input, and still speaks.
 * - `half-down`: the client sees the end of its input, and still speaks.
 */
export type FaultKind = 'cut' | 'kill' | 'hold' | 'freeze' | 'trickle' | 'half-up' | 'half-down';

/** Where the two sides were: before the first byte of the other machine, of the host, or of the answer to that. */
export type Phase = 'bootstrap' | 'greeting' | 'answer' | 'link';

export interface Fault {
  kind: FaultKind;
  /** How long it lasts, for those that pass. */
  ms?: number;
  /** The direction whose bytes are counted: to the program or from it. */
  lane?: 'up' | 'down';
  /** It happens after so many bytes, in the middle of a frame if need be. */
  after?: number;
  /** It happens after so many ms at the latest. */
  within?: number;
  /** Whether it is one of the next connection. */
  next?: boolean;
}

/** The server of a relay, in a process of its own. */
export class Relay {
  readonly #server: ChildProcess;
  readonly #answers = new Map<number, (answer: unknown) => void>();
  #last = 0;

  private constructor(readonly socket: string) {
    this.#server = fork(PROGRAM, [socket], { execArgv: [] });
    this.#server.on('message', ({ id, answer }: { id: number; answer: unknown }) => {
      this.#answers.get(id)?.(answer);
      this.#answers.delete(id);
    });
  }

  /** Starts a relay that ends with the test. */
  static async start(): Promise<Relay> {
    const relay = new Relay(join(folder(), 'relay'));
    finished(() => relay.stop());
    await once(relay.#server, 'message');
    return relay;
  }

  /** The words of a client, before those of what it starts. */
  get words(): string[] {
    return [process.execPath, PROGRAM, this.socket];
  }

  #ask(act: string, rest: object = {}): Promise<unknown> {
    const id = ++this.#last;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#server.send({ id, act, ...rest });
    });
  }

  /** Lets the newest connection, or the next one, fail. Resolves when it has; `null`: it was over before that. */
  async fail({ ms = 0, lane = 'down', after = 0, within = 2_000, next = false, kind }: Fault): Promise<Phase | null> {
    return (await this.#ask('fail', { kind, ms, lane, after, within, next })) as Phase | null;
  }

  /** Takes no new connections, or takes them again. */
  async down(down: boolean): Promise<void> {
    await this.#ask('down', { down });
  }

  /** Lets the next connections be. Faults that wait for them resolve with `null`. */
  async calm(): Promise<void> {
    await this.#ask('calm');
  }

  /** Puts words before those of each later client. */
  async before(words: string[]): Promise<void> {
    await this.#ask('before', { words });
  }

  /** Lets the bytes of all frozen connections pass, and the ends of clients that were killed be seen. */
  async release(): Promise<void> {
    await this.#ask('release');
  }

  /** The bytes that have passed so far, in both directions, and the connections that have begun. */
  async counts(): Promise<{ bytes: number; connections: number }> {
    return (await this.#ask('counts')) as { bytes: number; connections: number };
  }

  /** Ends the server. All connections are cut. */
  async stop(): Promise<void> {
    if (this.#server.exitCode !== null || !this.#server.connected) return;
    const exited = once(this.#server, 'exit');
    this.#server.disconnect();
    await exited;
  }
}

/** A target behind a relay. */
export interface Relayed {
  target: Target;
  /** The home of the commands. */
  home: string;
  relay: Relay;
}

/** The words that start a program with this home and nothing else in its environment. */
export function inHome(home: string): string[] {
  const variables = [`HOME=${home}`, `XDG_RUNTIME_DIR=${home}`, `TMPDIR=${home}`];
  return ['env', '-i', `PATH=${process.env.PATH}`, ...variables];
}

/** Connects to a target on this machine, with a home of its own, through a relay. It is closed after the test. */
export function relayed(options: ConnectOptions = {}): Promise<Relayed> {
  const home = folder();
  return connected(home, ({ words }) => ({ command: [...words, ...inHome(home)] }), options);
}

/** The same through ssh, which the relay starts. */
export function relayedSsh(options: ConnectOptions = {}): Promise<Relayed> {
  const { config, host, home } = sshHost();
  return connected(home, ({ words }) => ({ ssh: { host, config, program: [...words, 'ssh'] } }), options);
}

async function connected(
  home: string,
  address: (relay: Relay) => TargetAddress,
  options: ConnectOptions,
): Promise<Relayed> {
  const relay = await Relay.start();
  const target = await connect({ ...address(relay), name: 'there', ...options });
  finished(() => target.close());
  return { target, home, relay };
}
