import { type Check, either, fine, missing } from './check.ts';
import { askKernel } from './core.ts';
import { line } from './files.ts';

type Kernel = NonNullable<ReturnType<typeof askKernel>>;

/** Checks that only apply to Linux. Elsewhere the list is empty. */
export async function kernel(): Promise<Check[]> {
  if (process.platform !== 'linux') return [];
  const kernel = askKernel();
  return [...offered(kernel), await proc(), cgroup(kernel)];
}

function offered(kernel: Kernel | null): Check[] {
  if (kernel === null) return [];
  const { pidfd, closeRange, landlock, userNamespaces, notifications } = kernel;
  const has = (there: boolean) => (there ? 'available' : 'refused, by an old kernel or a filter');
  return [
    either(
      pidfd,
      'pidfd',
      has(pidfd),
      'a process is signalled by its pid after a look at its start time: one that takes over the pid in that very moment could be hit',
    ),
    either(
      closeRange,
      'close-range',
      has(closeRange),
      'what a library of the host left inheritable stays open in its commands',
    ),
    either(landlock > 0, 'landlock', landlock > 0 ? `version ${landlock}` : 'not available', NOT_CONFINED),
    either(userNamespaces, 'user-namespaces', userNamespaces ? 'allowed' : 'not allowed', NOT_CONFINED),
    either(notifications, 'seccomp-notify', has(notifications), NOT_CONFINED),
  ];
}

const NOT_CONFINED = 'a confinement needs it: see the lines that begin with confine';

/** Checks what /proc shows. `pid`: a process whose children are looked for. */
export async function proc(pid = process.pid, read = line): Promise<Check> {
  const children = await read(`/proc/${pid}/task/${pid}/children`);
  if (children === null) {
    return missing(
      'proc',
      '/proc does not list the children of a process',
      'what a command started cannot be found, and limits over the whole tree are ERR_BASH_UNSUPPORTED',
    );
  }
  const mounts = (await read(`/proc/${pid}/mountinfo`)) ?? '';
  const hidden = /^(?:\S+ ){4}\/proc .*\bhidepid=([^,\s]+)/m.exec(mounts)?.[1];
  const hides = hidden !== undefined && hidden !== '0' && hidden !== 'off';
  return either(
    !hides,
    'proc',
    hides ? `mounted with hidepid=${hidden}` : 'all processes are visible',
    'what a command left running as another user is not listed among its survivors',
  );
}

function cgroup(kernel: Kernel | null): Check {
  const name = 'cgroup';
  const cost =
    'a daemon that left its tree is lost if both helpers are killed at once, and limits are kept by measuring processes';
  if (kernel === null) return missing(name, 'not known without the addon', cost);
  if (process.env.AGENT_BASH_CGROUP === '0')
    return missing(name, 'turned off by AGENT_BASH_CGROUP=0', `${cost}; unset the variable`);
  const { noCgroups, cgroupRemedy, missingControllers } = kernel;
  if (typeof noCgroups === 'string') return missing(name, noCgroups, `${cost}; ${cgroupRemedy}`);
  const found = 'version 2, one for each command';
  return missingControllers.length === 0
    ? fine(name, found)
    : missing(
        name,
        `${found}; ${missingControllers.join(', ')}`,
        `limits on ${missingControllers.map((one) => one.split(' ')[0]).join(' and ')} are kept by measuring processes; start the host in a cgroup of its own below a delegated one`,
      );
}

/** Returns the directory of this process's cgroup of version 2, or `null` without one. */
export async function ownGroup(): Promise<string | null> {
  const path = /^0::(.*)$/m.exec((await line('/proc/self/cgroup')) ?? '')?.[1];
  const folder = path === undefined ? null : `/sys/fs/cgroup${path.replace(/\/$/, '')}`;
  return folder !== null && (await line(`${folder}/cgroup.controllers`)) !== null ? folder : null;
}
