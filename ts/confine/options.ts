import { type Check, fields, invalid, oneOf, record, strings, wordOr } from '../core/checks.ts';
import { SECRETS } from './secrets.ts';
import type { ConfineNetwork, ConfineOptions } from './types.ts';

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
    require: (value, name) => {
      strings(value, name);
      for (const part of value as string[]) oneOf('files', 'network', 'processes', 'syscalls')(part, name);
    },
  }),
);
