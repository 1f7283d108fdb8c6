import { totalmem } from 'node:os';
import { bash } from 'agent-bash';
import { type Check, either } from './check.ts';
import { line } from './files.ts';
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
  const first = /^\d+:pids:(.*)$/m.exec((await line('/proc/self/cgroup')) ?? '')?.[1];
  const ofFirst = first === undefined ? null : await line(`/sys/fs/cgroup/pids${first}/pids.max`);
  return ofFirst ?? (group === null ? null : await line(`${group}/pids.max`)) ?? '';
}

function memory(): Check {
  // Without a limit the value is 0, or exceeds the machine's memory.
  const ofGroup = process.constrainedMemory() ?? 0;
  const own = totalmem();
  const bounded = ofGroup > 0 && ofGroup < own;
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
