import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Way } from './types.ts';

/** What a trial on this machine has found. */
export interface Trial {
  /** What holds the parts of a confinement. */
  way: Way;
  /** Whether a confinement can allow hosts. */
  hosts: boolean;
  /** The remedy of the part that is missing, or `null`. */
  remedy: string | null;
  /** Whether the kernel is gVisor, whose sandbox no change of this machine widens. */
  gvisor: boolean;
}

/** The facts about a machine by which the causes are found. */
export interface Facts extends Trial {
  place: 'machine' | 'container' | 'pod';
  /** Whether the host does without namespaces by its own choice. */
  off: boolean;
  /** Returns the value of a sysctl, or `null` if the kernel does not have it. */
  sysctl(name: string): number | null;
}

/** Files that only a container has. */
const OF_CONTAINERS = ['.dockerenv', 'run/.containerenv'];
/** The directory of the service account's token. */
const OF_PODS = 'var/run/secrets/kubernetes.io';

/** Returns the facts about this machine. Tests give a directory in place of `/`. */
export function factsOf(trial: Trial, top = '/', env: NodeJS.ProcessEnv = process.env): Facts {
  const has = (path: string) => existsSync(join(top, path));
  const isPod = env.KUBERNETES_SERVICE_HOST !== undefined || has(OF_PODS);
  return {
    ...trial,
    off: env.AGENT_BASH_NAMESPACES === 'off',
    place: isPod ? 'pod' : OF_CONTAINERS.some(has) ? 'container' : 'machine',
    sysctl(name) {
      try {
        return Number(readFileSync(join(top, 'proc/sys', name.replaceAll('.', '/')), 'utf8'));
      } catch {
        return null;
      }
    },
  };
}
