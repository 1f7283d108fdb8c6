import { readFile } from 'node:fs/promises';
import {
  connect,
  type Target,
  type TargetAddress,
  TargetPool,
  type TargetPoolOptions,
  type TargetProvider,
} from 'agent-bash';
import type { AgentSandboxesOptions } from 'agent-bash/kubernetes';
import type { SlurmJobsOptions } from 'agent-bash/slurm';
import type { Command } from 'commander';
import { EXIT, Failure } from './console.ts';
import { type TargetFlags, targetOf } from './destination.ts';

/** The option that names a pool, as commander gives it. */
export interface PoolFlags extends TargetFlags {
  pool?: string;
}

/** Adds this option to a command. */
export function addPoolFlag(command: Command): Command {
  return command.option('--pool <file>', 'on a place of a pool: a JSON file with the options of a TargetPool');
}

/** The options of a pool in a file: those of a `TargetPool`, with the options of its provider in place of it. */
interface PoolFile extends Omit<TargetPoolOptions, 'provider'> {
  provider?:
    | { kubernetes: AgentSandboxesOptions }
    | { slurm: Omit<SlurmJobsOptions, 'login'> & { login?: TargetAddress } };
}

/** The options of a pool, and what the file itself has connected. */
export interface ReadPool {
  options: TargetPoolOptions;
  /** The login node of Slurm, which is closed after the pool. */
  login: Target | undefined;
}

const wrong = (file: string, what: string) =>
  new Failure('ERR_BASH_INVALID_ARG', `${file} is no file of a pool: ${what}; see docs/fleets.md`, EXIT.usage);

/** Reads the file of a pool. */
export async function readPool(file: string, signal?: AbortSignal): Promise<ReadPool> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Failure(error.code ?? 'ERR_UNKNOWN', `${file} cannot be read: ${error.message}`, EXIT.usage);
  });
  let given: PoolFile;
  try {
    given = JSON.parse(text) as PoolFile;
  } catch (error) {
    throw wrong(file, (error as Error).message);
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrong(file, 'it holds no object');
  const { provider, ...options } = given;
  try {
    const login = provider && 'slurm' in provider ? await loginOf(provider.slurm.login, signal) : undefined;
    return { options: { ...options, ...(provider && { provider: await providerOf(provider, login) }) }, login };
  } catch (error) {
    throw (error as { code?: unknown }).code === 'ERR_BASH_INVALID_ARG' ? wrong(file, (error as Error).message) : error;
  }
}

async function loginOf(login: TargetAddress | undefined, signal?: AbortSignal): Promise<Target | undefined> {
  return login && connect({ ...login, ...(signal && { signal }) });
}

/** Each provider is an entry of its own, which only its pools need. */
async function providerOf(
  given: NonNullable<PoolFile['provider']>,
  login: Target | undefined,
): Promise<TargetProvider> {
  const names = Object.keys(given);
  if (names.length === 1 && 'kubernetes' in given) {
    return (await import('agent-bash/kubernetes')).agentSandboxes(given.kubernetes);
  }
  if (names.length === 1 && 'slurm' in given) {
    return (await import('agent-bash/slurm')).slurmJobs({ ...given.slurm, login });
  }
  throw new Failure('ERR_BASH_INVALID_ARG', 'provider: it is an object with kubernetes or with slurm', EXIT.usage);
}

/** What commands run on. */
export type Place = Target | TargetPool;

/** A pool that closes the login node of its provider, too. */
class PoolOfFile extends TargetPool {
  readonly #login: Target | undefined;

  constructor({ options, login }: ReadPool) {
    super(options);
    this.#login = login;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#login?.close();
  }
}

/** Opens the target or the pool of the flags; `undefined`: this machine. */
export async function openPlace(flags: PoolFlags, signal?: AbortSignal): Promise<Place | undefined> {
  const { pool: file } = flags;
  if (file === undefined) return targetOf(flags, signal);
  if (flags.on !== undefined || flags.sshConfig !== undefined || flags.linger !== undefined) {
    throw new Failure('ERR_BASH_INVALID_ARG', '--pool names the machines: leave --on and its options out', EXIT.usage);
  }
  const read = await readPool(file, signal);
  try {
    return new PoolOfFile(read);
  } catch (error) {
    await read.login?.close();
    throw wrong(file, (error as Error).message);
  }
}

/** Returns the directory there in which commands start; `''`: a pool has not chosen a machine yet. */
export function folderOf(place: Place | undefined): string {
  if (place === undefined) return process.cwd();
  return place instanceof TargetPool ? '' : place.info.cwd;
}
