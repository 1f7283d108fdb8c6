import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConnectOptions, connect, type Target } from 'agent-bash';
import { finished } from './finished.ts';
import { folder } from './folder.ts';
import { childrenOf, kill } from './processes.ts';
import { until } from './until.ts';

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

/** Connects to a target on this machine, which is closed after the test. */
export async function place(options: ConnectOptions = {}): Promise<Place> {
  const home = folder();
  const target = await connect({ ...addressOf(home), name: 'there', ...options });
  finished(() => target.close());
  const down = (on: boolean) =>
    on ? writeFileSync(join(home, 'down'), '') : rmSync(join(home, 'down'), { force: true });
  // What holds the transport is a child of this process, or of the program of the target through which it leads.
  const carriers = () =>
    childrenOf(options.via?.info.pid ?? process.pid).filter(({ argv }) => argv.includes(`HOME=${home}`));
  return {
    target,
    home,
    cut: () => {
      // The program there goes on, though the transport's whole group is killed.
      for (const { pid } of carriers()) {
        for (const one of [...childrenOf(pid).map((transport) => -transport.pid), pid]) kill(one, 'SIGKILL');
      }
    },
    freeze: () => {
      down(true);
      for (const { pid } of carriers()) {
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
