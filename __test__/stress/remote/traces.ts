import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { carrying } from '../../background/support.ts';
import { childrenOf, processOf, until } from '../../support/index.ts';

/** What this process has open, and started. */
export interface Traces {
  /** What each descriptor leads to, by kind. */
  descriptors: string[];
  threads: number;
  children: string[];
}

/** Returns what this process has. */
export function traces(): Traces {
  const descriptors = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).replace(/:\[\d+\]$/, '');
    } catch {
      // The one by which the directory is read.
      return [];
    }
  });
  const children = childrenOf(process.pid).map(({ argv }) => argv.join(' ').slice(0, 100));
  return { descriptors: descriptors.toSorted(), threads: readdirSync('/proc/self/task').length, children };
}

/** The same as counts. */
export function counted({ descriptors, threads, children }: Traces): Record<keyof Traces, number> {
  return { descriptors: descriptors.length, threads, children: children.length };
}

/** Waits until this process has no more than before. Threads that wait for work take a while to end. */
export async function sameAs(before: Traces): Promise<void> {
  const most = counted(before);
  const is = (key: keyof Traces) => counted(traces())[key] <= most[key];
  await until(() => is('descriptors') && is('children') && is('threads'), 'it has no more than before', 40_000).catch(
    (error: Error) => {
      throw new Error(`${error.message}\nbefore: ${JSON.stringify(before)}\nafter: ${JSON.stringify(traces())}`);
    },
  );
}

/** The living processes with this home: those of a target, and what they have started. */
export function inside(home: string): number[] {
  return carrying(`HOME=${home}\0`);
}

/** The command lines of those processes, for a failure. */
export function shown(home: string): string {
  return inside(home)
    .map((pid) => `${pid} ${processOf(pid)?.argv.join(' ').slice(0, 200)}`)
    .join('\n');
}

/** The files below a home whose names are none of the test's own, and not the program in its place. */
export function filesOf(home: string, own: RegExp): string[] {
  return readdirSync(home, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
    .filter((path) => !/^\.cache\/agent-bash-host-\d+\/[0-9a-f]{64}$/.test(path) && !own.test(path));
}
