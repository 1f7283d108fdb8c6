import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BashOptions, ConfineOptions, Secret } from 'agent-bash';
import { type Command, InvalidArgumentError } from 'commander';
import { gather } from './values.ts';

type Profile = 'read-only' | 'workspace';

/** The options that let confined commands use what they cannot read, as commander gives them. */
export interface CredentialFlags {
  secret?: NamedSecret[];
  ssh?: string[];
}

/** The options that confine commands, as commander gives them. */
export interface ConfineFlags extends CredentialFlags {
  confine?: Profile;
  write?: string[];
  hide?: string[];
  allowHost?: string[];
}

/** A secret with its name. */
type NamedSecret = [name: string, secret: Secret];

/** Adds these options to a command. */
export function addConfineFlags(command: Command): Command {
  const confined = command
    .option('--confine [profile]', 'limit what it can reach: workspace (default) or read-only', parseProfile)
    .option('--write <path>', 'confined, with a directory or file that it may change, too', gather)
    .option('--hide <path>', 'confined, without this path, which it can neither read nor list', gather)
    .option(
      '--allow-host <host>',
      'confined, with a host that it can reach: name, *.domain, address or CIDR, with :port or for 80 and 443',
      gather,
    );
  return addCredentialFlags(confined, 'confined, with ');
}

/** Adds the options for what commands use and cannot read. `before` begins their descriptions. */
export function addCredentialFlags(command: Command, before = ''): Command {
  return command
    .option(
      '--secret <name@host[,host…][=env:VAR|file:PATH|-]>',
      `${before}a secret that commands use at these hosts and cannot read, from the variable of its name`,
      (text: string, before: NamedSecret[] = []) => [...before, parseSecret(text)],
    )
    .option(
      '--ssh <host>',
      `${before}the ssh agent for logins to this host alone: name, *.domain or address, with :port or for 22`,
      gather,
    );
}

/** Returns a secret as the command line gives it. The value is read here, so that it is in no list of arguments. */
function parseSecret(text: string): NamedSecret {
  const [, name, hosts, source] = /^([^@=]+)@([^=]+)(?:=(.*))?$/s.exec(text) ?? [];
  if (name === undefined || hosts === undefined) {
    throw new InvalidArgumentError('It must be NAME@HOST, with =env:VAR, =file:PATH or =- for another source.');
  }
  return [name, { value: valueFrom(source ?? `env:${name}`), hosts: hosts.split(',') }];
}

function valueFrom(source: string): string {
  const variable = source.startsWith('env:') ? source.slice('env:'.length) : undefined;
  if (variable !== undefined) {
    const value = process.env[variable];
    if (!value) throw new InvalidArgumentError(`The variable ${variable} is not set.`);
    return value;
  }
  const file = source.startsWith('file:') ? source.slice('file:'.length) : source === '-' ? 0 : undefined;
  if (file === undefined) throw new InvalidArgumentError('The source must be env:VAR, file:PATH or -.');
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/**
 * Gives a bare `--confine` its value. Commander would take the next argument for it, which is the command of `run`,
 * unless it is a profile.
 */
export function withProfiles(words: readonly string[]): string[] {
  const end = words.indexOf('--');
  const isBare = (at: number) => words[at] === '--confine' && (end < 0 || at < end) && !isProfile(words[at + 1]);
  return words.map((word, at) => (isBare(at) ? '--confine=workspace' : word));
}

function parseProfile(text: string): Profile {
  if (isProfile(text)) return text;
  throw new InvalidArgumentError('It must be workspace or read-only.');
}

const isProfile = (text: string | undefined): text is Profile => text === 'workspace' || text === 'read-only';

/**
 * Returns the option `confine` of the commands. A flag that narrows or widens a confinement asks for one. Relative
 * paths begin at `folder`.
 */
export function confineOf(
  { confine, write, hide, allowHost, ...credentials }: ConfineFlags,
  folder = process.cwd(),
): BashOptions['confine'] {
  const { secret, ssh } = credentials;
  if (confine === undefined && !write && !hide && !allowHost && !secret && !ssh) return undefined;
  // A shell leaves `~` as it is behind an equals sign.
  const absolute = (path: string) => (folder === '' || path.startsWith('~') ? path : resolve(folder, path));
  return {
    profile: confine ?? 'workspace',
    ...(write && { write: write.map(absolute) }),
    ...(hide && { hide: hide.map(absolute) }),
    ...(allowHost && { network: { allow: allowHost } }),
    ...credentialsOf(credentials),
  };
}

/** Returns what commands may use, for the option `confine`. */
export function credentialsOf({ secret, ssh }: CredentialFlags): Pick<ConfineOptions, 'secrets' | 'ssh'> {
  return {
    ...(secret && { secrets: Object.fromEntries(secret) }),
    ...(ssh && { ssh: { hosts: ssh } }),
  };
}
