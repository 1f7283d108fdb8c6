import { readdir, readFile } from 'node:fs/promises';
import { type BashOptions, bash, type Target } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { failure } from './errors.ts';
import { answerOf, runScriptOn } from './script.ts';

/** A process, with the fields that identify it later. */
export interface Process {
  pid: number;
  parent: number;
  /** The start time in the system's own form. Together with the pid it identifies one process. */
  started: string;
  /** Whether its environment carries the mark. */
  marked: boolean;
}

/** The processes of the machine that runs the commands of a sandbox. */
export interface Processes {
  /** The process that has started the commands, which is none of them. */
  readonly host: number;
  /** Lists every live process by its pid. `mark` is an environment entry, `NAME=value`. Zombies are left out. */
  list(mark: string): Promise<Map<number, Process>>;
  /** Sends signals to processes that may be gone or belong to another user by now. */
  signal(processes: readonly Process[], signals: readonly NodeJS.Signals[]): Promise<void>;
  /** Sends a signal to the processes of a command's group. `pid` is that of its shell. Does nothing if none is left. */
  signalGroup(pid: number, signal: number): Promise<void>;
}

/** The processes of this machine. */
const HERE: Processes = {
  host: process.pid,

  async list(mark) {
    return byPid(process.platform === 'linux' ? await fromProc(mark) : await fromPs(mark));
  },

  async signal(processes, signals) {
    for (const { pid } of processes) {
      for (const signal of signals) {
        try {
          process.kill(pid, signal);
        } catch {
          // Its caller lists the processes again, and so sees which are left.
        }
      }
    }
  },

  async signalGroup(pid, signal) {
    signalGroupHere(pid, signal);
  },
};

/** Sends a signal to the processes of a group of this machine. Does nothing if none is left. */
export function signalGroupHere(pid: number, signal: number | NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The machine that runs commands: this one, a target, or the place that a pool has given an affinity. */
export type Place = Pick<BashOptions, 'target' | 'affinity'>;

/** Returns the processes of the machine that runs commands with these options. */
export function processesOf({ target, affinity }: Place): Processes {
  if (target === undefined) return HERE;
  return new ProcessesThere(() => {
    const place = innerOf(bash).placeOf(target, affinity) as Target | null;
    return place?.state === 'closed' ? null : place;
  });
}

/** Writes the `stat` of each process, and after an empty one the paths of the environments with the entry `$1`. */
const LIST = `for dir in /proc/[0-9]*; do
  stat=
  IFS= read -r -d '' stat < "$dir/stat"
  [[ $stat ]] && printf '%s\\0' "$stat"
done 2> /dev/null
printf '\\0'
grep -lzxF -e "$1" /proc/[0-9]*/environ 2> /dev/null
exit 0`;

/** Sends the signals `$1` to processes, each given by its pid and its start time: no later process of this pid. */
const SIGNAL = `set -f
signals=$1
shift
while (( $# )); do
  stat=
  IFS= read -r -d '' stat < "/proc/$1/stat"
  fields=(\${stat##*) })
  if [[ \${fields[19]} == "$2" ]]; then
    for signal in $signals; do kill -s "$signal" "$1"; done
  fi
  shift 2
done 2> /dev/null
exit 0`;

const SIGNAL_GROUP = `kill "-$1" -- "-$2"`;

/**
 * The processes of a target, by scripts that run there. `null`: a pool has given no place, or has lost it, or the
 * target was closed, which has ended them.
 */
class ProcessesThere implements Processes {
  readonly #place: () => Target | null;

  constructor(place: () => Target | null) {
    this.#place = place;
  }

  get host(): number {
    return this.#place()?.info.pid ?? 0;
  }

  async list(mark: string): Promise<Map<number, Process>> {
    const target = this.#place();
    if (target === null) return new Map();
    const answer = await answerOf(target, LIST, [mark], 'the processes could not be listed');
    const [stats = '', marked = ''] = answer.split('\0\0', 2);
    const ofMarked = new Set(marked.match(/\d+/g)?.map(Number));
    return byPid(stats.split('\0').flatMap((stat) => processOf(stat, ofMarked) ?? []));
  }

  async signal(processes: readonly Process[], signals: readonly NodeJS.Signals[]): Promise<void> {
    const target = this.#place();
    if (target === null) return;
    const known = processes.flatMap(({ pid, started }) => [String(pid), started]);
    const names = signals.map((name) => name.replace('SIG', '')).join(' ');
    await answerOf(target, SIGNAL, [names, ...known], 'processes could not be signalled');
  }

  async signalGroup(pid: number, signal: number): Promise<void> {
    const target = this.#place();
    if (target === null) return;
    const { exitCode, stderr } = await runScriptOn(target, SIGNAL_GROUP, [String(signal), String(pid)]);
    if (exitCode !== 0 && !stderr.includes('No such process')) throw failure('EPERM', stderr.trim());
  }
}

function byPid(found: Process[]): Map<number, Process> {
  return new Map(found.map((each) => [each.pid, each]));
}

/** Reads a `stat` of /proc. `null` for a zombie. */
function processOf(stat: string, marked: ReadonlySet<number>): Process | null {
  // pid (name, which may hold spaces and parentheses) state parent …; the start time is field 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const pid = Number.parseInt(stat, 10);
  if (!(pid > 0) || fields[0] === 'Z' || fields[0] === 'X') return null;
  return { pid, parent: Number(fields[1]), started: fields[19] ?? '', marked: marked.has(pid) };
}

async function fromProc(mark: string): Promise<Process[]> {
  const found: Process[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => null);
    if (stat === null) continue;
    const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '');
    const isMarked = environment.split('\0').includes(mark);
    const process = processOf(stat, new Set(isMarked ? [Number(name)] : []));
    if (process !== null) found.push(process);
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
