import { OWNER, type Owner } from '../core/world.ts';
import { draftOf } from '../draft/handle.ts';
import type { Credentials } from '../draft/types.ts';
import { BashError } from '../errors.ts';
import { pathOn } from '../target/handle.ts';
import type { CommandOptions } from '../types.ts';
import { callFunctions, nativeSecrets } from './secrets.ts';
import type { ConfineOptions, ConfineSetting } from './types.ts';

/** What a command may use of this machine, for the addon. */
interface NativeCredentials {
  secrets: Record<string, unknown> | undefined;
  ssh: ConfineOptions['ssh'];
}

/** The world of a command, for the addon. */
interface NativeConfinement {
  options: Omit<ConfineOptions, 'secrets'> & { store?: string; secrets?: Record<string, unknown> | undefined };
  /** The owner of the world, by its number. Left out: the plain calls of the host. */
  owner?: number;
  /** The owner's directory, an absolute path. If left out, the directory of the command. */
  root?: string;
  /** Whether the owner is the registry, and joins the worlds of its running tasks. */
  joins?: boolean;
}

/** The world of a command; `undefined` for a command that is not confined. */
export function nativeConfinement(given: CommandOptions): NativeConfinement | undefined {
  const options = confinementOf(given.confine);
  if (options === null) return undefined;
  checkVariables(options, given);
  const dir = typeof given.undo === 'object' ? given.undo.dir : undefined;
  const owner = (given as { [OWNER]?: Owner })[OWNER];
  return {
    // The store is hidden from the command.
    options: {
      ...options,
      ...(dir !== undefined && { store: pathOn(given.target)(dir) }),
      secrets: options.secrets && nativeSecrets(options.secrets),
    },
    ...(owner && { owner: owner.number, root: owner.root, joins: owner.joins ?? false }),
  };
}

/** Returns what a command may use of this machine, by its draft; `undefined` for one without a draft. */
export function draftCredentials(given: CommandOptions): NativeCredentials | undefined {
  const credentials = draftOf(given.draft)?.credentials;
  if (credentials === undefined) return undefined;
  checkVariables(credentials, given);
  return nativeCredentials(credentials);
}

/** Returns credentials as the addon takes them. */
export const nativeCredentials = ({ secrets, ssh }: Credentials): NativeCredentials => ({
  secrets: secrets && nativeSecrets(secrets),
  ssh,
});

function checkVariables({ secrets = {} }: Credentials, { env = {} }: CommandOptions): void {
  const taken = Object.keys(secrets).find((name) => env[name] !== undefined);
  if (taken === undefined) return;
  throw new BashError('ERR_BASH_INVALID_ARG', `env.${taken}: a secret has that name; leave it out of env`);
}

/** Returns what `confine` stands for; `null` if commands are not confined. */
export function confinementOf(confine: ConfineSetting | undefined): ConfineOptions | null {
  const given = confine ?? defaults.confine;
  if (given === 'off') return null;
  return typeof given === 'string' ? { profile: given } : given;
}

/** Calls the functions of a command's secrets. `undefined` if there are none: the command then starts at once. */
export function callSecrets({ confine, draft }: CommandOptions): Promise<unknown> | undefined {
  return callFunctions((draftOf(draft)?.credentials ?? confinementOf(confine))?.secrets);
}

/** The `confine` of options that have none. The tests of this package change it to run every command confined. */
export const defaults: { confine: 'off' | 'read-only' | 'workspace' } = { confine: 'off' };
