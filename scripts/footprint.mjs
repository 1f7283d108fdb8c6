/**
 * The footprint of a test run: how many processes and how much memory it takes at once, and what it leaves behind. The
 * gate fails for either, on Linux.
 *
 * A process belongs to the run if it descends from this one or has the run's directory in its environment: as its
 * temporary directory, or in its home. Other work on the machine, such as a second run, is not counted.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Processes and private memory, in bytes, that a run may take at once. */
const MOST = { processes: 2_000, memory: 2 * 1024 ** 3 };

/** `everyMs`: time between two looks at the processes. `settledMs`: time in which the last of them may exit. */
const TIMES = { everyMs: 250, settledMs: 10_000 };

const PAGE = 4096;

const linux = process.platform === 'linux';

function text(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** What `/proc/PID/stat` says of a process: its parent, state and start, or null if it is gone. */
function statOf(pid) {
  const stat = text(`/proc/${pid}/stat`);
  if (!stat) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { pid, state: fields[0], parent: Number(fields[1]), start: fields[19] };
}

/** The entries of a directory, or none if it cannot be read. */
function entries(path, options) {
  try {
    return readdirSync(path, options);
  } catch {
    return [];
  }
}

/** The cgroups of supervisors: `agent-bash.…`, wherever this machine has its hierarchies. */
function cgroups(path = '/sys/fs/cgroup', depth = 4) {
  const directories = entries(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return directories.flatMap(({ name }) => {
    const here = join(path, name);
    if (name.startsWith('agent-bash.')) return [here];
    return depth > 0 ? cgroups(here, depth - 1) : [];
  });
}

/** The living processes that descend from this one, or have the mark anywhere in their environment. */
export function processesOf(mark, seen = new Map()) {
  const pids = entries('/proc').filter((name) => /^\d+$/.test(name));
  const stats = pids.map((pid) => statOf(Number(pid))).filter((stat) => stat !== null);
  const known = new Map(stats.map((stat) => [stat.pid, stat]));
  const ours = new Map([[process.pid, true]]);
  const descends = (pid) => {
    if (!ours.has(pid)) {
      const parent = known.get(pid)?.parent ?? 0;
      ours.set(pid, parent > 0 && descends(parent));
    }
    return ours.get(pid);
  };
  const isMarked = ({ pid, start }) => {
    const key = `${pid} ${start}`;
    if (!seen.has(key)) seen.set(key, text(`/proc/${pid}/environ`).includes(mark));
    return seen.get(key);
  };
  return stats.filter((stat) => stat.pid !== process.pid && (descends(stat.pid) || isMarked(stat)));
}

/** Passes of `killAll`: processes may start others while they are killed. */
const PASSES = 100;

/** Kills those processes. */
export function killAll(mark) {
  for (let pass = 0; pass < PASSES; pass++) {
    const living = processesOf(mark).filter(({ state }) => state !== 'Z');
    if (living.length === 0) return;
    for (const { pid } of living) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has exited by itself.
      }
    }
  }
}

/** Names a process by its command and its directory, which tells the test that started it. */
function described(pid) {
  const command = text(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 160);
  let cwd = 'an unknown directory';
  try {
    cwd = readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It has exited.
  }
  return `${command.trim()} in ${cwd}`;
}

/** Names what a directory has in it, which tells the test that made it. */
function within(path) {
  const found = entries(path, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => !entry.isDirectory());
  // Without a file, its directories have to do.
  const told = files.length > 0 ? files : found;
  const names = told.slice(0, 5).map(({ parentPath, name }) => relative(path, join(parentPath, name)));
  return told.length > 0 ? ` with ${names.join(', ')}${told.length > names.length ? ' and more' : ''}` : '';
}

export class Footprint {
  #directory = mkdtempSync(join(realpathSync(tmpdir()), 'agent-bash-test-'));
  /** What outlives a run: saved outputs until they are old, as documented, and the state of its programs. */
  #kept = `agent-bash-${process.getuid?.()}`;
  #state = join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'agent-bash');
  #before = { state: existsSync(this.#state), cgroups: new Set(cgroups()) };
  #seen = new Map();
  #timer;
  #settledMs;
  #most;
  /** The most that the run took at once. */
  peak = { processes: 0, memory: 0 };

  constructor({ everyMs = TIMES.everyMs, settledMs = TIMES.settledMs, most = {} } = {}) {
    // Some tests run as other users.
    chmodSync(this.#directory, 0o1777);
    mkdirSync(join(this.#directory, this.#kept), { mode: 0o700 });
    this.#settledMs = settledMs;
    this.#most = { ...MOST, ...most };
    if (linux) this.#timer = setInterval(() => this.#look(), everyMs);
  }

  /** Variables for the programs of the run, whose state is not that of the user who runs the tests. */
  get env() {
    return { TMPDIR: this.#directory, XDG_STATE_HOME: join(this.#directory, this.#kept, 'state') };
  }

  #look() {
    const found = processesOf(this.#directory, this.#seen);
    const memory = found.reduce((all, { pid }) => {
      const [, resident = 0, shared = 0] = text(`/proc/${pid}/statm`).split(' ').map(Number);
      return all + (resident - shared) * PAGE;
    }, 0);
    this.peak.processes = Math.max(this.peak.processes, found.length);
    this.peak.memory = Math.max(this.peak.memory, memory);
  }

  /** What the run has left behind, a sentence for each thing. */
  #left() {
    const processes = processesOf(this.#directory)
      .filter(({ state }) => state !== 'Z')
      .map(({ pid }) => `process ${pid}: ${described(pid)}`);
    const files = entries(this.#directory).filter((name) => name !== this.#kept);
    const mounts = text('/proc/self/mountinfo')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .filter((path) => path.startsWith(this.#directory));
    const groups = cgroups().filter((path) => !this.#before.cgroups.has(path) && !text(join(path, 'cgroup.procs')));
    return [
      ...processes,
      ...files.map((name) => `file $TMPDIR/${name}${within(join(this.#directory, name))}`),
      ...mounts.map((path) => `mount ${path}`),
      ...groups.map((path) => `cgroup ${path}`),
      ...(existsSync(this.#state) && !this.#before.state ? [`directory ${this.#state}`] : []),
    ];
  }

  /** Kills every process of the run, and removes its directory. */
  clear() {
    killAll(this.#directory);
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Ends the run. Returns what is wrong with its footprint, a sentence each, after killing what is left. */
  async end() {
    const until = performance.now() + this.#settledMs;
    let left = linux ? this.#left() : [];
    while (left.length > 0 && performance.now() < until) {
      await sleep(100);
      left = this.#left();
    }
    clearInterval(this.#timer);
    try {
      this.clear();
    } catch (error) {
      left.push(`a process that is at work there: ${error.message}`);
    }
    const [{ processes, memory }, most] = [this.peak, this.#most];
    return [
      ...left.map((what) => `left behind: ${what}`),
      ...(processes > most.processes ? [`${processes} processes at once, more than ${most.processes}`] : []),
      ...(memory > most.memory ? [`${mebibytes(memory)} MiB at once, more than ${mebibytes(most.memory)}`] : []),
    ];
  }
}

export const mebibytes = (bytes) => Math.round(bytes / 1024 ** 2);
