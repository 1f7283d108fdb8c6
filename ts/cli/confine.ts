import { resolve } from 'node:path';
import type { BashOptions } from 'agent-bash';
import { type Command, InvalidArgumentError } from 'commander';
import { gather } from './values.ts';

type Profile = 'read-only' | 'workspace';

/** The options that confine commands, as commander gives them. */
export interface ConfineFlags {
  confine?: Profile;
  write?: string[];
  hide?: string[];
  allowHost?: string[];
}

/** Adds these options to a command. */
export function addConfineFlags(command: Command): Command {
  return command
    .option('--confine [profile]', 'limit what it can reach: workspace (default) or read-only', parseProfile)
    .option('--write <path>', 'confined, with a directory or file that it may change, too', gather)
    .option('--hide <path>', 'confined, without this path, which it can neither read nor list', gather)
    .option(
      '--allow-host <host>',
      'confined, with a host that it can reach: name, *.domain, address or CIDR, with :port or for 80 and 443',
      gather,
    );
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
  { confine, write, hide, allowHost }: ConfineFlags,
  folder = process.cwd(),
): BashOptions['confine'] {
  if (confine === undefined && !write && !hide && !allowHost) return undefined;
  // A shell leaves `~` as it is behind an equals sign.
  const absolute = (path: string) => (folder === '' || path.startsWith('~') ? path : resolve(folder, path));
  return {
    profile: confine ?? 'workspace',
    ...(write && { write: write.map(absolute) }),
    ...(hide && { hide: hide.map(absolute) }),
    ...(allowHost && { network: { allow: allowHost } }),
  };
}
