import { isDeepStrictEqual } from 'node:util';
import { BashError } from 'agent-bash';
import { messageOf } from '../../core/listener.ts';
import type { Folders } from '../../sandbox/folders.ts';
import { Exchange } from '../../sandbox/session/exchange.ts';
import type { DisposableSandboxSession } from '../../sandbox/session/types.ts';
import type { Reached } from './policy.ts';
import type { ReachablePorts } from './ports.ts';
import type { HarnessV1NetworkPolicy, HarnessV1NetworkSandboxSession } from './types.ts';

const PROTOCOLS = ['http', 'https', 'ws'];

/** What a session is made of. */
export interface Setup {
  id: string;
  folder: string;
  folders: Folders;
  /** The file for the policy that was set. */
  policyFile: string;
  ports: readonly number[];
  /** The ways to these ports. */
  reachable: ReachablePorts;
  /** The hosts that commands reach at first. */
  network: Reached;
  /** Returns the hosts under a policy. Throws for one that cannot be held. `null` without confinement. */
  networkUnder: ((policy: HarnessV1NetworkPolicy, folder: string) => Reached) | null;
  /** Makes a session whose commands reach these hosts. */
  open(network: Reached): DisposableSandboxSession;
  onStopped(): void;
  onDestroyed(): Promise<void>;
}

/** Makes the session of a harness. */
export function networkSession(setup: Setup): HarnessV1NetworkSandboxSession {
  const { id, folder, folders, policyFile, ports, reachable, networkUnder, open } = setup;
  let { network } = setup;
  let destroyed: Promise<void> | null = null;
  const exchange = new Exchange(open(network));
  const face = { ...exchange.face, description: described(exchange.face.description, ports, reachable.machine) };

  const getPortUrl: HarnessV1NetworkSandboxSession['getPortUrl'] = async ({ port, protocol = 'http' }) => {
    if (ports.includes(port) && PROTOCOLS.includes(protocol)) {
      return `${protocol}://127.0.0.1:${await reachable.portTo(port)}`;
    }
    const known = `its ports are ${ports.join(', ') || 'none'}, and its protocols ${PROTOCOLS.join(', ')}`;
    throw new BashError('ERR_BASH_INVALID_ARG', `session "${id}" has no ${protocol} at port ${port}: ${known}`);
  };
  const setNetworkPolicy = async (policy: HarnessV1NetworkPolicy) => {
    const wanted = networkUnder?.(policy, folder);
    await exchange.turn(async (old) => {
      if (isDeepStrictEqual(wanted, network)) return old;
      await old[Symbol.asyncDispose]().catch((error) => {
        throw new BashError('ERR_BASH_UNSUPPORTED', `the network policy stays as it was: ${messageOf(error)}`);
      });
      const next = open(wanted);
      try {
        await folders.replace(policyFile, JSON.stringify(policy));
      } catch (error) {
        await next[Symbol.asyncDispose]();
        throw error;
      }
      network = wanted;
      return next;
    });
  };
  const remove = async (old: DisposableSandboxSession) => {
    await old[Symbol.asyncDispose]();
    await reachable.close();
    await folders.remove(folder);
    await folders.remove(policyFile);
    exchange.close(new BashError('ERR_BASH_CLOSED', `session "${id}" was destroyed`));
    await setup.onDestroyed();
    return old;
  };
  return {
    ...face,
    id,
    defaultWorkingDirectory: folder,
    ports,
    getPortEndpoint: async (options) => ({ url: await getPortUrl(options) }),
    getPortUrl,
    stop: () => (destroyed ?? exchange.end().then(() => reachable.close())).then(setup.onStopped),
    destroy() {
      destroyed ??= exchange.turn(remove).catch((error) => {
        destroyed = null;
        throw error;
      });
      return destroyed;
    },
    restricted: () => ({ ...face }),
    ...(networkUnder && { setNetworkPolicy }),
  };
}

function described(description: string, ports: readonly number[], machine: string): string {
  if (ports.length === 0) return description;
  return `${description}\nServers at these ports are reached from ${machine}, at 127.0.0.1: ${ports.join(', ')}.`;
}
