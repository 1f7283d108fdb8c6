import type { Facts } from './facts.ts';
import { seccompProfile } from './seccomp.ts';
import { signed } from './signed.ts';
import type { Change, Target } from './types.ts';

/** Where the parts of this agent-bash are. */
export interface Own {
  version: string;
  /** The path of the supervisor. */
  supervisor: string;
}

/** A reason why a machine does not hold the parts in namespaces, and what takes it away. */
export interface Cause {
  /** The value of `--for` that asks for it. */
  target: Target | null;
  why: string;
  /** Returns whether a machine has it. */
  isAt(facts: Facts): boolean;
  /** Returns the changes. `facts` is `null` for another machine. */
  changes(own: Own, facts: Facts | null): Change[];
  /** Programs that run before the files are removed, and afterwards. */
  undo: { before?: string[]; after?: string[] };
  /** Lines that make use of the files. */
  use?: string[];
}

/** The directory with a copy of the supervisor for each version. The addon knows it, too. */
export const COPIES = '/usr/local/lib/agent-bash';
export const PROGRAM = 'agent-bash-supervisor';

const APPARMOR = '/etc/apparmor.d/agent-bash';
const SYSCTL = '/etc/sysctl.d/60-agent-bash.conf';
const MODULES = '/etc/modules-load.d/agent-bash.conf';
const DOCKER = '/etc/agent-bash/seccomp.json';
/** The directory is the default of the kubelet. */
const KUBERNETES = '/var/lib/kubelet/seccomp/agent-bash.json';

/** All users can write below no part of this path: a path that they can write would give namespaces to any program. */
const PROFILE = `abi <abi/4.0>,
include <tunables/global>

profile agent-bash ${COPIES}/*/${PROGRAM} flags=(unconfined) {
  userns,
}
`;

/** Settings that forbid user namespaces if they are 0. A kernel may lack those with a hyphen, which allows errors. */
const SYSCTLS = [
  { name: 'user.max_user_namespaces', line: 'user.max_user_namespaces = 10000' },
  { name: 'kernel.unprivileged_userns_clone', line: '-kernel.unprivileged_userns_clone = 1' },
];

const withoutNamespaces = ({ way, off, gvisor }: Facts) =>
  way !== 'namespaces' && way !== 'seatbelt' && !off && !gvisor;
const file = (path: string, content: string): Change => ({ kind: 'file', path, mode: 0o644, content });
const run = (...argv: string[]): Change => ({ kind: 'run', argv });

/** The causes, in the order in which plans name them. */
export const CAUSES: Cause[] = [
  {
    target: 'apparmor',
    why: 'AppArmor lets only programs with a profile make user namespaces (kernel.apparmor_restrict_unprivileged_userns)',
    isAt: (facts) => withoutNamespaces(facts) && facts.sysctl('kernel.apparmor_restrict_unprivileged_userns') === 1,
    changes: ({ version, supervisor }) => [
      { kind: 'copy', from: supervisor, path: `${COPIES}/${version}/${PROGRAM}`, mode: 0o755 },
      file(APPARMOR, signed(version, PROFILE)),
      run('apparmor_parser', '--replace', APPARMOR),
    ],
    undo: { before: ['apparmor_parser', '--remove', APPARMOR] },
  },
  {
    target: 'sysctl',
    why: `user namespaces are forbidden (${SYSCTLS.map(({ name }) => name).join(' or ')} is 0), and are to be allowed for all programs`,
    isAt: (facts) => withoutNamespaces(facts) && SYSCTLS.some(({ name }) => facts.sysctl(name) === 0),
    changes: ({ version }, facts) => {
      const lines = SYSCTLS.filter(({ name }) => facts === null || facts.sysctl(name) === 0).map(({ line }) => line);
      return [file(SYSCTL, signed(version, `${lines.join('\n')}\n`)), run('sysctl', '--system')];
    },
    undo: { after: ['sysctl', '--system'] },
  },
  {
    target: null,
    why: 'the kernel has no veth devices, without which no hosts can be allowed',
    isAt: ({ way, hosts }) => way === 'namespaces' && !hosts,
    changes: ({ version }) => [file(MODULES, signed(version, 'veth\n')), run('modprobe', 'veth')],
    undo: {},
  },
  {
    target: 'docker',
    why: 'the container refuses namespaces and mounts, by its seccomp profile and by what covers /proc',
    isAt: (facts) => withoutNamespaces(facts) && facts.place === 'container',
    changes: ({ version }) => [file(DOCKER, seccompProfile(version))],
    undo: {},
    use: [`docker run --security-opt seccomp=${DOCKER} --security-opt systempaths=unconfined IMAGE`],
  },
  {
    target: 'kubernetes',
    why: 'the pod refuses namespaces and mounts, by its seccomp profile and by what covers /proc',
    isAt: (facts) => withoutNamespaces(facts) && facts.place === 'pod',
    changes: ({ version }) => [file(KUBERNETES, seccompProfile(version))],
    undo: {},
    use: [
      'spec:',
      '  hostUsers: false',
      '  containers:',
      '    - securityContext:',
      '        procMount: Unmasked',
      '        seccompProfile: { type: Localhost, localhostProfile: agent-bash.json }',
    ],
  },
];
