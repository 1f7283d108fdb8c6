import { readdir, readFile } from 'node:fs/promises';
import { bash } from 'agent-bash';

/** A process, with the fields that identify it later. */
export interface Process {
  pid: number;
  parent: number;
  /** The start time in the system's own form. Together with the pid it identifies one process. */
  started: string;
  /** Whether its environment carries the mark. */
  marked: boolean;
}

/** Lists every live process by its pid. `mark` is an environment entry, `NAME=value`. Zombies are left out. */
export async function processes(mark: string): Promise<Map<number, Process>> {
  const found = process.platform === 'linux' ? await fromProc(mark) : await fromPs(mark);
  return new Map(found.map((each) => [each.pid, each]));
}

async function fromProc(mark: string): Promise<Process[]> {
  const found: Process[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => null);
    if (stat === null) continue;
    // pid (name, which may hold spaces and parentheses) state parent …; the start time is field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') continue;
    const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '');
    found.push({
      pid: Number(name),
      parent: Number(fields[1]),
      started: fields[19] ?? '',
      marked: environment.split('\0').includes(mark),
    });
  }
  return found;
}

/**
 * For systems without /proc. `-E` shows the environment of the user's own processes, except those that the system
 * protects.
 */
async function fromPs(mark: string): Promise<Process[]> {
  const listing = await bash('ps -axEww -o pid=,ppid=,stat=,lstart=,command=', {
    truncate: { keep: 'head', maxBytes: 16 * 1024 * 1024 },
    spill: false,
  });
  return listing.stdout.split('\n').flatMap((line) => {
    const [, pid, parent, state, started, rest] =
      /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\d+)\s(.*)$/.exec(line) ?? [];
    if (pid === undefined || state === undefined || state.startsWith('Z')) return [];
    return [
      { pid: Number(pid), parent: Number(parent), started: started ?? '', marked: ` ${rest} `.includes(` ${mark} `) },
    ];
  });
}
