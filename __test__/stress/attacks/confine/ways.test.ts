import { attacks, type How } from '../../../confine/support/runner.ts';
import { allowedNetwork } from './attacks/allowed.ts';
import { calls, ipc, races } from './attacks/calls.ts';
import { hidden } from './attacks/hidden.ts';
import { mountsAndNamespaces } from './attacks/mounts.ts';
import { outside, rights } from './attacks/outside.ts';
import { helpers, processes } from './attacks/processes.ts';
import { protectedNames } from './attacks/protected.ts';
import { network, unixSockets } from './attacks/sockets.ts';

/** Without namespaces a listener holds all parts. */
const off: How = { wrap: () => ['env', 'AGENT_BASH_NAMESPACES=off'] };

attacks('files outside', outside, off);
attacks('protected names', protectedNames, off);
attacks('hidden files', hidden, off);
attacks('rights of files', rights, off);
attacks('mounts and namespaces', mountsAndNamespaces, off);
attacks('system calls', calls, off);
attacks('IPC', ipc, off);
attacks('processes', processes, off);
attacks('helpers', helpers, off);
attacks('sockets of the host', unixSockets, off);
attacks('the network', network, off);
attacks('a network of allowed hosts', allowedNetwork, off);
attacks('races', races, off);
