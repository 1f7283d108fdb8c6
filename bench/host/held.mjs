// Counts the resources of a host process and its helpers, to find leaks.
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

function stat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, ppid] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return [{ pid: Number(pid), state, ppid: Number(ppid) }];
  } catch {
    return [];
  }
}

/** Returns the namespaces that processes are in or have open. */
function namespaces(pids) {
  const found = new Set();
  for (const pid of pids) {
    for (const folder of ['ns', 'fd']) {
      for (const name of names(`/proc/${pid}/${folder}`)) {
        try {
          const target = readlinkSync(`/proc/${pid}/${folder}/${name}`);
          if (/^\w+:\[\d+\]$/.test(target) && !/^(pipe|socket)/.test(target)) found.add(target);
        } catch {
          // Closed meanwhile.
        }
      }
    }
  }
  return found.size;
}

const names = (path) => {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
};

const entries = (path) => names(path).length;

/** The mounts of this process's namespace. Outside Linux they are not counted. */
function mounts() {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8').split('\n').length;
  } catch {
    return 0;
  }
}

/** Returns the current resources of this process and its helpers. */
function held() {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(stat);
  const below = new Set([process.pid]);
  for (let size = 0; size !== below.size; ) {
    size = below.size;
    for (const { pid, ppid } of all) if (below.has(ppid)) below.add(pid);
  }
  const mine = all.filter(({ pid }) => below.has(pid) && pid !== process.pid);
  return {
    descriptors: entries('/proc/self/fd'),
    helperDescriptors: mine.reduce((sum, { pid }) => sum + entries(`/proc/${pid}/fd`), 0),
    threads: entries('/proc/self/task'),
    processes: mine.length,
    namespaces: namespaces([process.pid, ...mine.map(({ pid }) => pid)]),
    mounts: mounts(),
    zombies: mine.filter(({ state }) => state === 'Z').length,
    files: readdirSync(tmpdir(), { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory())
      .length,
  };
}

/** Waits until everything is idle, up to a limit. */
export async function atRest(good) {
  let now = held();
  for (let n = 0; n < 500 && !good(now); n++) {
    await sleep(20);
    now = held();
  }
  for (let n = 0; n < 4; n++) globalThis.gc?.();
  const { rss, heapTotal } = process.memoryUsage();
  return { ...now, resident: rss, heap: heapTotal };
}

/** Gives this process its own temporary directory while `use` runs, so that only its own files are counted. */
export async function withTemporary(use) {
  const temporary = mkdtempSync(join(tmpdir(), 'agent-bash-soak-'));
  const saved = process.env.TMPDIR;
  process.env.TMPDIR = temporary;
  try {
    return await use();
  } finally {
    if (saved === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = saved;
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  }
}
