import { type Check, fields, invalid, oneOf, record, strings, wordOr } from '../core/checks.ts';
import { BashError } from '../errors.ts';
import { SECRETS, text } from './secrets.ts';
import type { ConfineNetwork, ConfineOptions, ConfineSsh } from './types.ts';

const ports: Check = (value, name) => {
  if (!Array.isArray(value) || !Array.from(value).every((item) => Number.isSafeInteger(item))) {
    throw invalid(name, value, 'an array of whole numbers');
  }
};

const stringsByName: Check = (value, name) => {
  record(value, name);
  for (const [key, item] of Object.entries(value as object)) {
    if (typeof item !== 'string') throw invalid(`${name}.${key}`, item, 'an IP address');
  }
};

const SSH_FIELDS = fields<ConfineSsh>({ agent: text, hosts: strings, keys: strings });

const SSH: Check = (value, name) => {
  SSH_FIELDS(value, name);
  if ((value as ConfineSsh).hosts !== undefined) return;
  throw new BashError('ERR_BASH_INVALID_ARG', `${name}.hosts is missing`);
};

/** The check of `confine`. The addon checks paths, hosts and ports, and contradictions between options. */
export const CONFINE: Check = wordOr(
  ['off', 'read-only', 'workspace'],
  fields<ConfineOptions>({
    profile: oneOf('read-only', 'workspace'),
    write: strings,
    git: oneOf('repository', 'none'),
    protect: strings,
    hide: strings,
    read: wordOr(['all'], strings),
    network: wordOr(['none', 'full'], fields<ConfineNetwork>({ allow: strings, hosts: stringsByName })),
    expose: ports,
    tmp: oneOf('private', 'shared'),
    caches: oneOf('overlay', 'shared', 'none'),
    secrets: SECRETS,
    ssh: SSH,
    require: (value, name) => {
      strings(value, name);
      for (const part of value as string[]) oneOf('files', 'network', 'processes', 'syscalls')(part, name);
    },
  }),
);
