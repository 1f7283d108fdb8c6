import { totalmem } from 'node:os';
import { bash, type Target } from 'agent-bash';
import { type Check, either } from './check.ts';
import { line, lineOn } from './files.ts';
import { ownGroup } from './kernel.ts';

const GIB = 1024 ** 3;
/** Descriptors that a command needs, and those reserved for the host; see docs/running.md. */
const FILES_OF_A_COMMAND = 11;
const FILES_OF_THE_HOST = 48;
const MOST_COMMANDS = 1_024;
/** Below these numbers common work fails. */
const FEW_FILES = 1_024;
const FEW_PROCESSES = 256;

/** Checks the limits of this user and this container. */
export async function limits(): Promise<Check[]> {
  const [files = '', processes = ''] = (await bash('ulimit -n; ulimit -u')).stdout.split('\n');
  return [openFiles(bound(files)), processCount(bound(processes), bound(await tasksOfGroup())), memory()];
}

/** Checks the same on a target, by the host program there. */
export async function limitsOn(target: Target): Promise<Check[]> {
  const ulimits = (await bash('ulimit -n; ulimit -u', { target })).stdout;
  const [files = '', processes = ''] = ulimits.split('\n');
  const read = lineOn(target);
  const groups = (await read(`/proc/${target.info.pid}/cgroup`)) ?? '';
  const total = /^MemTotal: +(\d+) kB$/m.exec((await read('/proc/meminfo')) ?? '')?.[1];
  const group = /^0::(.*)$/m.exec(groups)?.[1] ?? '';
  const ofGroup = await read(`/sys/fs/cgroup${group}/memory.max`);
  return [
    openFiles(bound(files)),
    processCount(bound(processes), bound((await tasksIn(groups, group, read)) ?? '')),
    memoryOf(Number(total) * 1_024, bound(ofGroup ?? '')),
  ];
}

/** Parses a limit as the system writes it. No limit is infinite. */
function bound(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
}

function openFiles(count: number): Check {
  const room = Math.floor((count - FILES_OF_THE_HOST) / FILES_OF_A_COMMAND);
  const commands = Math.max(1, Math.min(MOST_COMMANDS, room));
  return either(
    count >= FEW_FILES,
    'open-files',
    `${told(count)}, for ${commands} commands at once`,
    'more commands than that wait for their turn, and programs that open many files fail',
  );
}

function processCount(ofUser: number, ofGroup: number): Check {
  const count = Math.min(ofUser, ofGroup);
  return either(
    count >= FEW_PROCESSES,
    'processes',
    `${told(count)}${ofGroup < ofUser ? ', by the cgroup' : ''}`,
    'what starts many processes, such as a build, fails with «fork: Resource temporarily unavailable»',
  );
}

async function tasksOfGroup(): Promise<string> {
  const group = await ownGroup();
  const groups = (await line('/proc/self/cgroup')) ?? '';
  return (await tasksIn(groups, group?.replace(/^\/sys\/fs\/cgroup/, '') ?? null, line)) ?? '';
}

/** Returns the most processes of a cgroup, of version 1 or else 2. `groups`: those of a process, as /proc has them. */
async function tasksIn(groups: string, group: string | null, read: typeof line): Promise<string | null> {
  const first = /^\d+:pids:(.*)$/m.exec(groups)?.[1];
  const ofFirst = first === undefined ? null : await read(`/sys/fs/cgroup/pids${first}/pids.max`);
  return ofFirst ?? (group === null ? null : await read(`/sys/fs/cgroup${group}/pids.max`));
}

function memory(): Check {
  // Without a limit the value is 0, or exceeds the machine's memory.
  return memoryOf(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

function memoryOf(own: number, ofGroup: number): Check {
  const bounded = ofGroup < own;
  const bytes = bounded ? ofGroup : own;
  return either(
    bytes >= GIB,
    'memory',
    `${(bytes / GIB).toFixed(1)} GiB${bounded ? ', by the cgroup' : ''}`,
    'the kernel ends commands that need more, before the host: exit code 137',
  );
}

function told(count: number): string {
  return Number.isFinite(count) ? String(count) : 'unlimited';
}
