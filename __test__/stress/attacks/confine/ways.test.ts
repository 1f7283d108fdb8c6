import { attacks, type How } from '../../../confine/support/runner.ts';
import { calls } from './attacks/calls.ts';
import { mountsAndNamespaces } from './attacks/mounts.ts';
import { outside } from './attacks/outside.ts';

/** Without namespaces Landlock and the filter of system calls are left. */
const off: How = { wrap: () => ['env', 'AGENT_BASH_NAMESPACES=off'], held: ['syscalls'] };
/** Landlock bounds neither modes, owners, times and attributes nor the machine's own /tmp and devices. */
const UNBOUND = /^(changes the|sets|opens the|writes into) /;

attacks('system calls, without namespaces', calls, off);
attacks('mounts and namespaces, without namespaces', mountsAndNamespaces, off);
attacks(
  'contents and names outside, without namespaces',
  outside.filter(({ name }) => !UNBOUND.test(name)),
  off,
);
