import { access, constants } from 'node:fs/promises';
import { type Check, either, missing } from './check.ts';
import { askKernel } from './core.ts';
import { line } from './files.ts';

/** What only Linux has; nothing is said of it elsewhere. */
export async function kernel(): Promise<Check[]> {
  if (process.platform !== 'linux') return [];
  return [...offered(), await proc(), await cgroup()];
}

function offered(): Check[] {
  const kernel = askKernel();
  if (kernel === null) return [];
  const { pidfd, closeRange, landlock, userNamespaces } = kernel;
  const has = (there: boolean) => (there ? 'there' : 'refused, by an old kernel or a filter');
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
    either(landlock > 0, 'landlock', landlock > 0 ? `version ${landlock}` : 'not there', NOT_CONFINED),
    either(userNamespaces, 'user-namespaces', userNamespaces ? 'allowed' : 'not allowed', NOT_CONFINED),
  ];
}

const NOT_CONFINED = 'nothing: commands are not confined, in this version';

async function proc(): Promise<Check> {
  const children = await line(`/proc/self/task/${process.pid}/children`);
  if (children === null) {
    return missing(
      'proc',
      '/proc does not tell the children of a process',
      'what a command started cannot be found, and limits over the whole tree are ERR_BASH_UNSUPPORTED',
    );
  }
  const mounts = (await line('/proc/self/mountinfo')) ?? '';
  const hidden = /^(?:\S+ ){4}\/proc .*\bhidepid=([^,\s]+)/m.exec(mounts)?.[1];
  const hides = hidden !== undefined && hidden !== '0' && hidden !== 'off';
  return either(
    !hides,
    'proc',
    hides ? `mounted with hidepid=${hidden}` : 'it tells of all processes',
    'what a command left running as another user is not listed among its survivors',
  );
}

async function cgroup(): Promise<Check> {
  const path = await ownGroup();
  const found =
    path === null
      ? 'version 1, or none'
      : (await isWritable(`${path}/cgroup.subtree_control`))
        ? 'version 2, delegated'
        : 'version 2, not delegated';
  return either(
    found.endsWith(', delegated'),
    'cgroup',
    found,
    'nothing: limits over a tree are kept by measuring its processes, in this version',
  );
}

/** The folder of this process's own group of version 2; `null` where there is none. */
export async function ownGroup(): Promise<string | null> {
  const path = /^0::(.*)$/m.exec((await line('/proc/self/cgroup')) ?? '')?.[1];
  const folder = path === undefined ? null : `/sys/fs/cgroup${path.replace(/\/$/, '')}`;
  return folder !== null && (await line(`${folder}/cgroup.controllers`)) !== null ? folder : null;
}

function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}
