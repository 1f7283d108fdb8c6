import { attacks } from '../../../confine/support/runner.ts';
import { allowedNetwork, names, withResolver } from './attacks/allowed.ts';
import { calls, ipc, races } from './attacks/calls.ts';
import { drafted } from './attacks/drafted.ts';
import { hidden } from './attacks/hidden.ts';
import { mountsAndNamespaces } from './attacks/mounts.ts';
import { outside, rights } from './attacks/outside.ts';
import { helpers, processes } from './attacks/processes.ts';
import { protectedNames } from './attacks/protected.ts';
import { network, unixSockets } from './attacks/sockets.ts';

// A draft has its own way of files: all attempts of confinement are made once more in one, and some against its parts.
const draft = true;
attacks('the root of a draft', drafted, { draft });
attacks('files outside', outside, { draft });
attacks('protected names', protectedNames, { draft });
attacks('hidden files', hidden, { draft });
attacks('rights of files', rights, { draft });
attacks('mounts and namespaces', mountsAndNamespaces, { draft });
attacks('processes of the host', processes, { draft });
attacks('our own helpers', helpers, { draft });
attacks('sockets of the host', unixSockets, { draft });
attacks('the network', network, { draft });
attacks('a network of allowed hosts', allowedNetwork, { draft });
attacks('names', names, { wrap: withResolver, draft });
attacks('system calls', calls, { draft });
attacks('IPC', ipc, { draft });
attacks('races', races, { draft });
