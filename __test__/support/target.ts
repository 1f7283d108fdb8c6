import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConnectOptions, connect, type Target } from 'agent-bash';
import { finished } from './finished.ts';
import { folder } from './folder.ts';
import { packageRoot } from './host.ts';
import { childrenOf, kill } from './processes.ts';
import { CONNECTING, until } from './until.ts';

/**
 * Passes the streams on, as a client of a container does. A file `down` in the home stops it from reaching anything.
 */
const RELAY = '[ ! -e "$HOME/down" ] && "$@" < <(cat) | cat';

/** A target on this machine, with a home of its own. */
export interface Place {
  target: Target;
  /** The home of the commands. */
  home: string;
  /** Cuts the link. */
  cut(): void;
  /** Stops what holds the transport, which is silent from then on. */
  freeze(): void;
  /** Sets whether the target can be reached. */
  down(on: boolean): void;
}

/** Returns the address of a target with this home. */
export function addressOf(home: string): { command: string[] } {
  const variables = [`HOME=${home}`, `XDG_RUNTIME_DIR=${home}`, `TMPDIR=${home}`];
  const path = `PATH=${process.env.PATH}`;
  return { command: ['env', '-i', path, ...variables, 'bash', '-c', RELAY, 'relay'] };
}

/** What holds the transports of a target with this home: children of this process, or of another program. */
const carriersOf = (home: string, holder: number) =>
  childrenOf(holder).filter(({ argv }) => argv.some((word) => word.includes(home)));

/** Cuts the link of a target with this home. The program there goes on, though the whole group ends. */
export function cutLink(home: string, holder: number = process.pid): void {
  for (const { pid } of carriersOf(home, holder)) {
    for (const one of [...childrenOf(pid).map((transport) => -transport.pid), pid]) kill(one, 'SIGKILL');
  }
}

/** Connects to a target on this machine, which has the program already, and is closed after the test. */
export async function place(options: ConnectOptions = {}): Promise<Place> {
  const home = folder();
  const hostProgram = join(packageRoot, 'agent-bash-host');
  const own = { name: 'there', hostProgram, connectTimeoutMs: CONNECTING };
  const target = await connect({ ...addressOf(home), ...own, ...options });
  finished(() => target.close());
  const down = (on: boolean) =>
    on ? writeFileSync(join(home, 'down'), '') : rmSync(join(home, 'down'), { force: true });
  const holder = () => options.via?.info.pid ?? process.pid;
  return {
    target,
    home,
    cut: () => cutLink(home, holder()),
    freeze: () => {
      down(true);
      for (const { pid } of carriersOf(home, holder())) {
        kill(pid, 'SIGSTOP');
        finished(() => void kill(pid, 'SIGKILL'));
      }
    },
    down,
  };
}

/** Waits until a target is in this state, at most `bound` ms. */
export async function state(target: Target, wanted: Target['state'], bound?: number): Promise<void> {
  await until(() => target.state === wanted, `the target is ${wanted}`, bound);
}
