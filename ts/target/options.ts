import {
  type Check,
  type Checks,
  checkFields,
  fields,
  invalid,
  isSignal,
  oneOf,
  path,
  strings,
  type,
  wholeNumber,
} from '../core/checks.ts';
import { BashError } from '../errors.ts';
import { OPTION_TABLES } from '../options.ts';
import { TARGET } from './handle.ts';
import type { ConnectOptions, ContainerAddress, PodAddress, SshAddress, TargetAddress } from './types.ts';

const nonEmpty: Check = (value, name) => {
  if (typeof value !== 'string' || value === '') throw invalid(name, value, 'a name');
};

/** A name, or an object with these options. */
const nameOr = (check: Check): Check =>
  Object.assign((value: unknown, name: string) => {
    if (typeof value !== 'string') check(value, name);
  }, check.fields && { fields: check.fields });

const CONTAINER = nameOr(
  fields<ContainerAddress>({ container: type('string'), user: type('string'), program: strings }),
);

const ADDRESS = {
  ssh: nameOr(
    fields<SshAddress>({
      host: type('string'),
      user: type('string'),
      port: wholeNumber(1, 65_535),
      config: path,
      args: strings,
      program: strings,
    }),
  ),
  docker: CONTAINER,
  podman: CONTAINER,
  kubernetes: fields<PodAddress>({
    pod: type('string'),
    namespace: type('string'),
    container: type('string'),
    context: type('string'),
    uid: type('string'),
    program: strings,
  }),
  command: strings,
} as const;

const OPTIONS: Checks<ConnectOptions> = {
  name: nonEmpty,
  cwd: path,
  env: OPTION_TABLES.bash.env,
  detachMs: wholeNumber(0, 86_400_000),
  aliveMs: wholeNumber(1_000, 300_000),
  connectTimeoutMs: wholeNumber(1_000, 600_000),
  via: TARGET,
  hostProgram: path,
  signal: isSignal,
};

const ALL: Checks<TargetAddress & ConnectOptions> = { ...ADDRESS, quoting: oneOf('argv', 'shell'), ...OPTIONS };

/** The name that each address must have. */
const NAMES = { ssh: 'host', docker: 'container', podman: 'container', kubernetes: 'pod' } as const;

/** Checks what `connect` is called with. The addon checks the names themselves. */
export function checkConnect(to: unknown): asserts to is TargetAddress & ConnectOptions {
  checkFields<TargetAddress & ConnectOptions>('connect', to, ALL);
  const given = to as Record<string, unknown>;
  const kinds = kindsOf(given);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    const problem = `connect: exactly one of ${Object.keys(ADDRESS).join(', ')} is the address`;
    const found = kind === undefined ? 'there is none' : `there are ${kinds.join(' and ')}`;
    throw new BashError('ERR_BASH_INVALID_ARG', `${problem}, and ${found}`);
  }
  if (given.quoting !== undefined && kind !== 'command') {
    throw new BashError('ERR_BASH_INVALID_ARG', 'quoting: only an address by `command` has it');
  }
  if (kind === 'command' || typeof given[kind] === 'string') return;
  const name = NAMES[kind];
  if ((given[kind] as Record<string, unknown>)[name] === undefined)
    throw invalid(`${kind}.${name}`, undefined, 'a name');
}

/** Returns a checked address for the addon, as JSON. */
export function nativeAddress(to: TargetAddress): string {
  const given = to as Record<string, unknown>;
  const kind = kindsOf(given)[0] ?? 'command';
  const value = given[kind];
  if (kind === 'command') return JSON.stringify({ command: { command: value, quoting: given.quoting } });
  return JSON.stringify({ [kind]: typeof value === 'string' ? { [NAMES[kind]]: value } : value });
}

function kindsOf(given: Record<string, unknown>): (keyof typeof ADDRESS)[] {
  return (Object.keys(ADDRESS) as (keyof typeof ADDRESS)[]).filter((kind) => given[kind] !== undefined);
}

export const WRITE: Checks<{ mode?: number | undefined }> = { mode: wholeNumber(0, 0o7777) };
export const REMOVE: Checks<{ recursive?: boolean | undefined }> = { recursive: type('boolean') };
export const FORWARD: Checks<{ host?: string | undefined; localPort?: number | undefined }> = {
  host: nonEmpty,
  localPort: wholeNumber(0, 65_535),
};

/** Checks the path of a file there. */
export function checkPath(value: unknown): asserts value is string {
  path(value, 'path');
}

/** Checks a port there. */
export const checkPort: (value: unknown) => void = (value) => wholeNumber(1, 65_535)(value, 'port');
