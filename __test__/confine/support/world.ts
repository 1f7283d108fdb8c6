import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { alive, childrenOf, isRoot, type Process, processes, supervisorOf } from '../../support/index.ts';

/** The names of the helpers of a world, as `ps` shows them. The kernel keeps 15 characters. */
export const INIT = 'agent-bash-init';
export const GATE = 'agent-bash-gate';
export const LISTENER = 'agent-bash-list';
export const SHIM = 'agent-bash-supe';

/** The helpers below the supervisor of a host with one of these names, or all. */
export function helpersOf(host = process.pid, ...names: string[]): Process[] {
  const all = childrenOf(supervisorOf(host)?.pid ?? 0).filter(({ state }) => state !== 'Z');
  return all.filter(({ name }) => name.startsWith('agent-bash-') && (names.length === 0 || names.includes(name)));
}

/** The shims of a host that have a process with this text in its arguments below them. */
export function shimsWith(text: string, host = process.pid): Process[] {
  return helpersOf(host, SHIM).filter(({ pid }) =>
    descendantsOf(pid).some(({ argv }) => argv.some((argument) => argument.includes(text))),
  );
}

/** All processes below one. */
export function descendantsOf(pid: number): Process[] {
  const all = processes();
  const below = (parent: number): Process[] =>
    all.filter(({ ppid }) => ppid === parent).flatMap((one) => [one, ...below(one.pid)]);
  return below(pid);
}

/** The init of a world, and the private directories that it has open. Only root sees the directories. */
export interface WorldFiles {
  pid: number;
  places: string[];
}

/** The worlds below a host, the blank one included. */
export function worldsOf(host = process.pid): WorldFiles[] {
  return helpersOf(host, INIT).map(({ pid }) => ({ pid, places: isRoot ? placesOf(pid) : [] }));
}

function placesOf(pid: number): string[] {
  // A descriptor may be closed meanwhile, and the process may have ended.
  const ofLiving = <T>(read: () => T, otherwise: T): T => {
    try {
      return read();
    } catch {
      return otherwise;
    }
  };
  const fds = ofLiving(() => readdirSync(`/proc/${pid}/fd`), []);
  const paths = fds.map((fd) => ofLiving(() => readlinkSync(`/proc/${pid}/fd/${fd}`), ''));
  return paths.filter((path) => /\/world-[^/]+$/.test(path));
}

/** Whether nothing of a world is left. */
export const isGone = ({ pid, places }: WorldFiles): boolean => !alive(pid) && !places.some(existsSync);
